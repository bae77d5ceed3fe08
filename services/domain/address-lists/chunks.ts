// Versions of lists as they are stored. In: a set of addresses. Out: chunks well below what a document may hold, and the set again.
import { Buffer } from 'node:buffer'
import { endianness } from 'node:os'
import type { Docs } from '../../../infra/store/docs.ts'
import type { AddressListStore } from './documents.ts'
import { chunkId, type IpChunkDoc, type IpListDoc } from './documents.ts'
import type { Intervals, Words } from './intervals.ts'
import type { AddressSet } from './list-parser.ts'

/** Whole intervals of either family fit. */
const CHUNK_BYTES = 256 * 1024
/** How many are on their way at a time. */
const CHUNKS_PER_BATCH = 4

export type Chunks = Pick<Docs<IpChunkDoc>, 'get' | 'insert' | 'remove' | 'find'>

/** Answers how many chunks there are. `between` is called after each batch; it may throw. */
export async function saveVersion(
  chunks: Chunks,
  { list, version, set }: { list: string; version: string; set: AddressSet },
  afterBatch: () => Promise<void>,
): Promise<number> {
  let batch: IpChunkDoc[] = []
  let saved = 0
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await chunks.insert(batch)
    batch = []
    await afterBatch()
  }
  for (const { words, data } of [set.v4, set.v6])
    for (let at = 0; at < data.length; at += CHUNK_BYTES / 4) {
      batch.push({
        _id: chunkId(list, version, saved),
        words,
        data: encodeWords(data.subarray(at, at + CHUNK_BYTES / 4)),
      })
      saved += 1
      if (batch.length === CHUNKS_PER_BATCH) await flush()
    }
  await flush()
  return saved
}

/** Null when it is not all there: the version no longer counts, and its chunks are being removed. */
export async function loadVersion(
  chunks: Pick<Docs<IpChunkDoc>, 'get'>,
  { _id: list, version, chunks: count }: Pick<IpListDoc, '_id' | 'version' | 'chunks'>,
): Promise<AddressSet | null> {
  const arrays: Record<Words, Uint32Array[]> = { 1: [], 4: [] }
  if (version === null) return null
  for (let from = 0; from < count; from += CHUNKS_PER_BATCH) {
    const ids = Array.from({ length: Math.min(CHUNKS_PER_BATCH, count - from) }, (_, nth) =>
      chunkId(list, version, from + nth),
    )
    const found = await chunks.get(ids)
    for (const id of ids) {
      const chunk = found.get(id)
      if (!chunk) return null
      arrays[chunk.words].push(decodeWords(chunk.data))
    }
  }
  return { v4: concatIntervals(1, arrays[1]), v6: concatIntervals(4, arrays[4]) }
}

export async function removeVersion(chunks: Pick<Docs<IpChunkDoc>, 'remove'>, list: string, version: string) {
  const of = `${list}/${version}`
  // The character after the slash ends the range of what begins with `of/`.
  while ((await chunks.remove({ _id: { $gt: `${of}/`, $lt: `${of}0` } }, CHUNKS_PER_BATCH)) === CHUNKS_PER_BATCH);
}

/** As it was read: one that was put again since then stays. Its chunks last, and only those of the versions it knew of: somebody may
 *  be about to put another of that name. */
export async function removeList(store: AddressListStore, list: IpListDoc): Promise<boolean> {
  if ((await store.docs('ip_lists').remove({ _id: list._id, rev: list.rev }, 1)) === 0) return false
  for (const version of [list.version, list.importing?.id ?? null])
    if (version !== null) await removeVersion(store.docs('ip_chunks'), list._id, version)
  return true
}

function encodeWords(words: Uint32Array): string {
  const bytes = Buffer.from(Uint32Array.from(words).buffer)
  return (endianness() === 'LE' ? bytes.swap32() : bytes).toString('base64')
}

function decodeWords(text: string): Uint32Array {
  // A buffer of its own begins where words can.
  const bytes = Buffer.from(new Uint8Array(Buffer.from(text, 'base64')).buffer)
  if (endianness() === 'LE') bytes.swap32()
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}

function concatIntervals(words: Words, arrays: readonly Uint32Array[]): Intervals {
  const data = new Uint32Array(arrays.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of arrays) {
    data.set(part, at)
    at += part.length
  }
  return { words, data }
}
