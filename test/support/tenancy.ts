// For tests of tenancy: reads all stored tenancy documents, and intercepts writes.
import { Buffer } from 'node:buffer'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import type { Doc, Docs } from '../../infra/store/docs.ts'
import type { COLLECTIONS, CountersignStore } from '../../services/domain/collections.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'

/** `dataKeys`: by number, the current one first. */
export const testKeyring = (...dataKeys: number[]) => keyringOf(dataKeys.length > 0 ? dataKeys : [1], [1])

/** Both by number, the current one first. */
export const keyringOf = (dataKeys: readonly number[], codeSecrets: readonly number[]) =>
  createKeyring({
    dataKeys: dataKeys.map(nth => ({ id: `d${nth}`, key: Buffer.alloc(32, nth) })),
    codeSecrets: codeSecrets.map(nth => ({ id: `c${nth}`, key: Buffer.alloc(32, nth + 1) })),
  })

/** Every tenancy document, by `_id`. */
export async function allTenancyDocs(store: CountersignStore) {
  return {
    companies: await all(store.docs('companies')),
    apps: await all(store.docs('apps')),
    keys: await all(store.docs('keys')),
    webhooks: await all(store.docs('webhooks')),
    providers: await all(store.docs('providers')),
    prices: await all(store.docs('prices')),
    ip_lists: await all(store.docs('ip_lists')),
    ip_chunks: await all(store.docs('ip_chunks')),
  }
}

const all = <T extends Doc>(docs: Docs<T>): Promise<T[]> => docs.find({}, { sort: { _id: 1 }, limit: 10_000 })

export async function clearTenancy(store: CountersignStore): Promise<void> {
  for (const [name, docs] of Object.entries(await allTenancyDocs(store))) {
    const ids = docs.map(({ _id }) => _id)
    await store.docs(name as keyof typeof COLLECTIONS).remove({ _id: { $in: ids } }, ids.length)
  }
}

const WRITE_METHODS = ['insert', 'change', 'update', 'modify', 'remove'] as const

/** Calls `before` and `after` around every write. Either may throw. */
export function interceptWrites(
  store: CountersignStore,
  { before, after }: { before?: (call: string) => unknown; after?: (call: string) => unknown },
): CountersignStore {
  return {
    ...store,
    docs(name) {
      const docs = store.docs(name)
      const wrapped = WRITE_METHODS.map(method => [
        method,
        async (...args: never[]) => {
          await before?.(`${name}.${method}`)
          const result = await (docs[method] as (...args: never[]) => Promise<unknown>)(...args)
          await after?.(`${name}.${method}`)
          return result
        },
      ])
      return { ...docs, ...Object.fromEntries(wrapped) }
    },
  }
}

/** A store whose primary was cut off and answers from the past: unless the read must be certain, it knows no
 *  verifications but those in `past`, as they are there, and finds them by id only. */
export const withStaleReads = (store: CountersignStore, past: readonly OtpDoc[] = []): CountersignStore => ({
  ...store,
  docs(name) {
    const docs = store.docs(name)
    if (name !== 'otps') return docs
    const inPast = new Map(past.map(doc => [doc._id, doc])) as unknown as Awaited<ReturnType<typeof docs.get>>
    const get: typeof docs.get = async (ids, options) =>
      options?.certain ? docs.get(ids, options) : new Map([...inPast].filter(([id]) => ids.includes(id)))
    const find: typeof docs.find = async (filter, page) => (page.certain ? docs.find(filter, page) : [])
    return { ...docs, get, find }
  },
})
