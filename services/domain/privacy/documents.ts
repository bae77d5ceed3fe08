// What is stored about the data keys: the canary, which only the right keys open, and the progress of their rotation. One document
// each, so that any process can continue a rotation where another left it. And the journal of erasures, by which people whom a restored
// backup brings back are erased again.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import { ERASURE_ENTRY_RETENTION_MS } from '../retention.ts'

export interface CanaryDoc extends Doc {
  sealed: string
  /** The format of everything in this store, see canary.ts. */
  format: number
}

/** The collections that hold sealed texts, in the order of the rotation. Providers, webhooks, apps and users come
 *  first: they are few and matter most. */
export const SEALED_COLLECTIONS = [
  'providers',
  'webhooks',
  'apps',
  'users',
  'otps',
  'claims',
  'refusals',
  'recipient_rules',
  'events',
] as const
export type SealedCollection = (typeof SEALED_COLLECTIONS)[number]

export const ROTATION_ID = 'rotation'

export interface RotationDoc extends RevisedDoc {
  /** The ids of the data keys, the current one first. Another current key, or an additional key, restarts the rotation. */
  keys: string[]
  state: 'running' | 'done'
  started_at: number
  /** The number of this pass. Passes go through all collections until one finds nothing to renew. */
  pass: number
  pass_started_at: number
  /** The position of this pass: the last `_id` it has looked at in this collection. */
  collection: SealedCollection
  after: string
  /** Documents of this pass. */
  looked: number
  renewed: number
  /** Documents whose key is missing, or that were tampered with. They are left as they are. */
  unsealable: number
  /** Documents of all passes. */
  renewed_in_all: number
  done_at: number | null
}

/** That a recipient was erased from an app. It names the recipient by keyed index alone: an erasure has an entry for each index under which
 *  the recipient is looked up, of either mode and under every data key. */
export interface ErasureEntry {
  app_id: string
  index: string
  /** When the erasure began. */
  at: number
}

export interface ErasureDoc extends Doc, ErasureEntry {
  purge_at: Date
}

const TIME_DIGITS = 15

/** Entries sort by time, and one that is stored again is the same document. */
export const erasureDoc = (entry: ErasureEntry): ErasureDoc => ({
  _id: `${firstErasureAt(entry.at)}:${entry.app_id}:${entry.index}`,
  ...entry,
  purge_at: new Date(entry.at + ERASURE_ENTRY_RETENTION_MS),
})

/** It sorts before the ids of that time. */
export const firstErasureAt = (at: number): string => String(Math.max(0, at)).padStart(TIME_DIGITS, '0')

export const PRIVACY_COLLECTIONS = {
  erasures: collection<ErasureDoc>({
    belongsTo: [
      { to: null, why: 'a restored backup may bring the app back, and then the people who were erased from it' },
    ],
    indexes: [],
    purged: true,
  }),
  canaries: collection<CanaryDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
  rotations: collection<RotationDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
}

export type PrivacyStore = StoreOf<typeof PRIVACY_COLLECTIONS>
