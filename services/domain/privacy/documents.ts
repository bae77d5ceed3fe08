// What is stored about the data keys: the canary, which only the right keys open, and the progress of their rotation. One document
// each, so that any process can continue a rotation where another left it.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'

export interface CanaryDoc extends Doc {
  sealed: string
  /** The format of everything in this store, see canary.ts. */
  format: number
}

/** The collections that hold sealed texts, in the order of the rotation. Providers, webhooks, apps and users come
 *  first: they are few and matter most. */
export const SEALED_COLLECTIONS = ['providers', 'webhooks', 'apps', 'users', 'otps', 'claims', 'refusals'] as const
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

export const PRIVACY_COLLECTIONS = {
  canaries: collection<CanaryDoc>({ indexes: [] }),
  rotations: collection<RotationDoc>({ indexes: [] }),
}

export type PrivacyStore = StoreOf<typeof PRIVACY_COLLECTIONS>
