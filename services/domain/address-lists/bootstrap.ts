// The bootstrap file's ranges: one list per class. In: the ranges of the file. Out: the lists as the file says, whatever is stored and
// whoever else applies the same file at this moment. Small and in hand, they need no claim: the version is saved first and named last.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import { ensure } from '../../../infra/store/ensure.ts'
import { removeList, removeVersion, saveVersion } from './chunks.ts'
import type { AddressListStore, IpClass } from './documents.ts'
import { BOOTSTRAP, IP_CLASSES, type IpListDoc, listId } from './documents.ts'
import { newVersion } from './imports.ts'
import { readList } from './read.ts'

export interface BootstrapListsParts {
  store: AddressListStore
  clock: Pick<Clock, 'now'>
}

export async function replaceBootstrapLists(
  ranges: readonly { class: IpClass; cidr: string }[],
  to: BootstrapListsParts,
): Promise<void> {
  for (const of of IP_CLASSES) {
    const cidrs = ranges.flatMap(range => (range.class === of ? range.cidr : [])).sort()
    await (cidrs.length > 0 ? put(of, cidrs, to) : drop(of, to))
  }
}

async function put(of: IpClass, cidrs: readonly string[], { store, clock }: BootstrapListsParts): Promise<void> {
  const [lists, chunks, id] = [store.docs('ip_lists'), store.docs('ip_chunks'), listId(of, BOOTSTRAP)]
  const text = cidrs.join('\n')
  const source = { kind: 'bootstrap', digest: digestOf(text) } as const
  const stored = (await lists.get([id])).get(id)
  if (stored?.source.kind === 'bootstrap' && stored.source.digest === source.digest) return

  const { set, ...counts } = await readList(Buffer.from(text), async () => {})
  const version = newVersion(clock.now())
  const saved = await saveVersion(chunks, { list: id, version, set }, async () => {})
  const named = { source, version, chunks: saved, counts, refreshed_at: clock.now() }
  let before: string | null = null
  const outcome = await ensure(lists, id, {
    create: (): IpListDoc => ({
      ...{ _id: id, class: of, name: BOOTSTRAP, ...named, refresh_seconds: null, rev: 0 },
      ...{ status: 'ready', problem: null, importing: null },
    }),
    update: now => {
      before = now.version
      return now.source.kind === 'bootstrap' && now.source.digest === source.digest ? null : { $set: named }
    },
  })
  // Another was faster with the very same: ours is not needed.
  const unused = outcome === 'kept' ? version : before
  if (unused !== null) await removeVersion(chunks, id, unused)
}

async function drop(of: IpClass, { store }: BootstrapListsParts): Promise<void> {
  const id = listId(of, BOOTSTRAP)
  const stored = (await store.docs('ip_lists').get([id])).get(id)
  if (stored) await removeList(store, stored)
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
