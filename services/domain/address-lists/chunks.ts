// Stores and loads the versions of lists. In: a set of addresses. Out: chunks that are well below the size limit of a document, and the
// set again.
import { Buffer } from 'node:buffer'
import { endianness } from 'node:os'
import type { Docs } from '../../../infra/store/docs.ts'
import type { AddressListStore } from './documents.ts'
import { type AddressChunkDoc, type AddressListDoc, chunkId } from './documents.ts'
import type { AddressSet, Intervals, Words } from './intervals.ts'

/** A multiple of the size of an interval of either family. */
const CHUNK_BYTES = 256 * 1024
/** Chunks per read, write or removal. */
const CHUNKS_PER_BATCH = 4

export type Chunks = Pick<Docs<AddressChunkDoc>, 'get' | 'insert' | 'remove' | 'find'>

/** Resolves with the number of chunks. `afterBatch` may throw, which ends the saving. */
export async function saveVersion(
  chunks: Chunks,
  { list, version, set }: { list: string; version: string; set: AddressSet },
  afterBatch: () => Promise<void>,
): Promise<number> {
  let batch: AddressChunkDoc[] = []
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

/** Null when a chunk is missing: the version is no longer the current one, and its chunks are being removed. */
export async function loadVersion(
  chunks: Pick<Docs<AddressChunkDoc>, 'get'>,
  { _id: list, version, chunks: count }: Pick<AddressListDoc, '_id' | 'version' | 'chunks'>,
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

export async function removeVersion(chunks: Pick<Docs<AddressChunkDoc>, 'remove'>, list: string, version: string) {
  const prefix = `${list}/${version}`
  // "0" is the character after "/", so the range holds every id that begins with the prefix and a slash.
  const filter = { _id: { $gt: `${prefix}/`, $lt: `${prefix}0` } }
  while ((await chunks.remove(filter, CHUNKS_PER_BATCH)) === CHUNKS_PER_BATCH);
}

/** Removes the list unless it has changed since it was read; resolves with whether it was removed. Chunks are removed afterwards, and
 *  only those of the versions in `list`, because another request may already be importing a new list of that name. */
export async function removeList(store: AddressListStore, list: AddressListDoc): Promise<boolean> {
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
  // Copied, because a Uint32Array needs an offset that is a multiple of 4, and a pooled Buffer may begin anywhere.
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
