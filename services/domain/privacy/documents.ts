// What is stored of the data keys: a text that only the right keys open, and how far their rotation is. One document each: a process
// that goes on with a rotation takes it up where another left it.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'

export interface CanaryDoc extends Doc {
  sealed: string
}

/** What holds sealed texts, in the order it is gone through. Providers and webhooks are few and matter most: they come first. */
export const SEALED_COLLECTIONS = ['providers', 'webhooks', 'otps'] as const
export type SealedCollection = (typeof SEALED_COLLECTIONS)[number]

export const ROTATION_ID = 'rotation'

export interface RotationDoc extends RevisedDoc {
  /** The data keys it knows of, the one everything is to be sealed with first. Another first one, or one more, begins it anew. */
  keys: string[]
  state: 'running' | 'done'
  started_at: number
  /** It goes through everything until there is nothing left to do: this often so far. */
  pass: number
  pass_started_at: number
  /** Where it is. */
  collection: SealedCollection
  after: string
  /** Documents, in this pass. */
  looked: number
  renewed: number
  /** Their key is gone, or they were tampered with. They are left as they are. */
  unsealable: number
  /** Documents, in all passes. */
  renewed_in_all: number
  done_at: number | null
}

export const PRIVACY_COLLECTIONS = {
  canaries: collection<CanaryDoc>({ indexes: [] }),
  rotations: collection<RotationDoc>({ indexes: [] }),
}

export type PrivacyStore = StoreOf<typeof PRIVACY_COLLECTIONS>
