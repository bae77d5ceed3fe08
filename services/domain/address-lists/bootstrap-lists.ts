// The bootstrap file's ranges, stored as one list per class. In: the ranges of the file. Out: the lists as the file says. Several
// processes may apply the same file at once: each saves a version of its own, and only then names it in the list's document. The lists
// are small and read in one go, so they need no lease as imports.ts does.
import { Buffer } from 'node:buffer'
import type { Clock } from '../../../infra/clock.ts'
import { ensure } from '../../../infra/store/ensure.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { removeList, removeVersion, saveVersion } from './chunks.ts'
import type { AddressClass, AddressListStore } from './documents.ts'
import { ADDRESS_CLASSES, type AddressListDoc, BOOTSTRAP_LIST_NAME, digestOf, listId } from './documents.ts'
import { newVersion } from './imports.ts'
import { parseList } from './list-parser.ts'
import { shareOf } from './most-addresses.ts'

export interface BootstrapListsDeps {
  store: AddressListStore
  clock: Pick<Clock, 'now'>
}

export async function replaceBootstrapLists(
  ranges: readonly { class: AddressClass; cidr: string }[],
  deps: BootstrapListsDeps,
): Promise<void> {
  for (const addressClass of ADDRESS_CLASSES) {
    const cidrs = ranges.flatMap(range => (range.class === addressClass ? range.cidr : [])).sort()
    await (cidrs.length > 0 ? putList(addressClass, cidrs, deps) : dropList(addressClass, deps))
  }
}

async function putList(
  addressClass: AddressClass,
  cidrs: readonly string[],
  { store, clock }: BootstrapListsDeps,
): Promise<void> {
  const [lists, chunks, id] = [
    store.docs('ip_lists'),
    store.docs('ip_chunks'),
    listId(addressClass, BOOTSTRAP_LIST_NAME),
  ]
  const text = cidrs.join('\n')
  const source = { kind: 'bootstrap', digest: digestOf(text) } as const
  const stored = await getOne(lists, id)
  if (stored?.source.kind === 'bootstrap' && stored.source.digest === source.digest) return

  const { set, ...counts } = await parseList(Buffer.from(text), async () => {})
  const version = newVersion(clock.now())
  const saved = await saveVersion(chunks, { list: id, version, set }, async () => {})
  const versionFields = { source, version, chunks: saved, counts, share: shareOf(set), refreshed_at: clock.now() }
  let before: string | null = null
  const outcome = await ensure(lists, id, {
    create: (): AddressListDoc => ({
      _id: id,
      class: addressClass,
      name: BOOTSTRAP_LIST_NAME,
      ...versionFields,
      refresh_seconds: null,
      rev: 0,
      status: 'ready',
      problem: null,
      importing: null,
    }),
    update: ({ version: replaced, source: from }) => {
      before = replaced
      return from.kind === 'bootstrap' && from.digest === source.digest ? null : { $set: versionFields }
    },
  })
  // `unchanged`: another process has written the same list in the meantime, so this process's version is not needed.
  const unused = outcome === 'unchanged' ? version : before
  if (unused !== null) await removeVersion(chunks, id, unused)
}

async function dropList(addressClass: AddressClass, { store }: BootstrapListsDeps): Promise<void> {
  const id = listId(addressClass, BOOTSTRAP_LIST_NAME)
  const stored = await getOne(store.docs('ip_lists'), id)
  if (stored) await removeList(store, stored)
}
