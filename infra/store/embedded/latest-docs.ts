// The documents of a collection that were written last, as they are stored. In: documents, in the transaction that writes them. Out: the
// same documents, without reading and parsing them again. A verification is read once and changed twice in its first second.
//
// They are shared: with the code that wrote them, with the code that read them, and in parts with their next versions. So they must not be
// changed, and where strict they are frozen.
import { createBoundedMap } from '../../bounded-map.ts'
import { deepFreeze } from '../../deep-freeze.ts'
import type { Doc } from '../docs.ts'
import { asStored } from './json.ts'

export interface LatestDocs<T extends Doc> {
  get(id: string): T | undefined
  /** The document as it will be stored, for `set`. It shares its members with `doc`, so `doc` must not be changed any more. */
  share(doc: T): T
  set(doc: T): void
  /** After a rollback, and when documents are removed by a filter. */
  clear(): void
}

/** Some seconds of a busy process. A verification takes 3 KiB. */
const MAX_LATEST = 2_000

export function createLatestDocs<T extends Doc>(strict: boolean): LatestDocs<T> {
  const protect = (doc: T): T => (strict ? deepFreeze(doc) : doc)
  let latest = createBoundedMap<T>(MAX_LATEST)
  return {
    get: id => latest.get(id),
    share: doc => protect(asStored(doc)),
    set: doc => latest.set(doc._id, protect(doc)),
    clear() {
      latest = createBoundedMap(MAX_LATEST)
    },
  }
}

/** For a collection whose documents are not read again soon. */
export const noLatestDocs: LatestDocs<never> = { get: () => undefined, share: doc => doc, set() {}, clear() {} }
