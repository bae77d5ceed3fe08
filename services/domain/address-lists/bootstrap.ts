// The bootstrap file's ranges: one list per class. In: the ranges of the file. Out: the lists as the file says, whatever is stored and
// whoever else applies the same file at this moment. Small and in hand, they need no claim: the version is saved first and named last.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import { ensure } from '../../../infra/store/ensure.ts'
import { removeList, removeVersion, saveVersion } from './chunks.ts'
import type { AddressListStore, IpClass } from './documents.ts'
import { BOOTSTRAP_LIST_NAME, IP_CLASSES, type IpListDoc, listId } from './documents.ts'
import { newVersion } from './imports.ts'
import { parseList } from './list-parser.ts'

export interface BootstrapListsDeps {
  store: AddressListStore
  clock: Pick<Clock, 'now'>
}

export async function replaceBootstrapLists(
  ranges: readonly { class: IpClass; cidr: string }[],
  deps: BootstrapListsDeps,
): Promise<void> {
  for (const of of IP_CLASSES) {
    const cidrs = ranges.flatMap(range => (range.class === of ? range.cidr : [])).sort()
    await (cidrs.length > 0 ? putList(of, cidrs, deps) : dropList(of, deps))
  }
}

async function putList(
  ipClass: IpClass,
  cidrs: readonly string[],
  { store, clock }: BootstrapListsDeps,
): Promise<void> {
  const [lists, chunks, id] = [store.docs('ip_lists'), store.docs('ip_chunks'), listId(ipClass, BOOTSTRAP_LIST_NAME)]
  const text = cidrs.join('\n')
  const source = { kind: 'bootstrap', digest: digestOf(text) } as const
  const stored = (await lists.get([id])).get(id)
  if (stored?.source.kind === 'bootstrap' && stored.source.digest === source.digest) return

  const { set, ...counts } = await parseList(Buffer.from(text), async () => {})
  const version = newVersion(clock.now())
  const saved = await saveVersion(chunks, { list: id, version, set }, async () => {})
  const versionFields = { source, version, chunks: saved, counts, refreshed_at: clock.now() }
  let before: string | null = null
  const outcome = await ensure(lists, id, {
    create: (): IpListDoc => ({
      _id: id,
      class: ipClass,
      name: BOOTSTRAP_LIST_NAME,
      ...versionFields,
      refresh_seconds: null,
      rev: 0,
      status: 'ready',
      problem: null,
      importing: null,
    }),
    update: now => {
      before = now.version
      return now.source.kind === 'bootstrap' && now.source.digest === source.digest ? null : { $set: versionFields }
    },
  })
  // Another was faster with the very same: ours is not needed.
  const unused = outcome === 'kept' ? version : before
  if (unused !== null) await removeVersion(chunks, id, unused)
}

async function dropList(of: IpClass, { store }: BootstrapListsDeps): Promise<void> {
  const id = listId(of, BOOTSTRAP_LIST_NAME)
  const stored = (await store.docs('ip_lists').get([id])).get(id)
  if (stored) await removeList(store, stored)
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
