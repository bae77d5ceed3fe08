// What the fraud guard keeps. Countries, and ranges of a million numbers, by name: that is nobody's number. Blocks of ten thousand only
// under a keyed index, their numbers as a part of the recipient's, and for an hour. Decisions show a recipient as everyone sees it.

import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { Block } from '../../../machines/fraud.block.ts'
import type { Tally } from '../../../machines/fraud.tally.ts'
import type { Reason } from '../../../machines/fraud.ts'
import type { Mode } from '../../../machines/otp.ts'

/** A state that many processes fold news into. */
export interface SharedStateDoc<State> extends RevisedDoc {
  app_id: string
  state: State
  purge_at: Date
}

export type TallyDoc = SharedStateDoc<Tally>
export type BlockDoc = SharedStateDoc<Block>

/** A text message that was, or in mode `record` would have been, refused or moved. */
export interface DecisionDoc extends Doc {
  app_id: string
  company_id: string
  mode: Mode
  at: number
  /** False: only recorded, and the message went. */
  enforced: boolean
  outcome: 'refused' | 'moved'
  /** Where it was moved to. */
  channel: Channel | null
  verdict: 'slow' | 'refuse'
  score: number
  reasons: Reason[]
  /** The verification it was for; one that was refused at its start never came to be. */
  otp_id: string
  /** Its keyed index, and what everyone sees of it. */
  recipient: string
  masked: string
  country: string | null
  /** Decisions of the process before this one that were too many to keep. */
  unrecorded: number
  purge_at: Date
}

/** Of an app in one of its two worlds: a country (`GB`) or a range (`+447700`). */
export const tallyId = (app_id: string, mode: Mode, name: string): string => `${app_id}:${mode}:${name}`

export const FRAUD_COLLECTIONS = {
  fraud_tallies: collection<TallyDoc>({ indexes: [{ fields: { app_id: 1, _id: 1 } }], purged: true }),
  fraud_blocks: collection<BlockDoc>({ indexes: [], purged: true }),
  fraud_decisions: collection<DecisionDoc>({
    indexes: [{ fields: { app_id: 1, _id: -1 } }, { fields: { app_id: 1, mode: 1, recipient: 1, _id: -1 } }],
    purged: true,
  }),
}

export type FraudStore = StoreOf<typeof FRAUD_COLLECTIONS>
