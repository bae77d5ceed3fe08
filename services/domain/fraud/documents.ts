// What the fraud guard stores. Tallies of apps, countries and ranges of a million numbers have plain names, because
// these identify no person; a mail domain may be one person's, so its tally is stored under a keyed index, beside those
// of networks. Blocks of ten thousand numbers are stored for two hours under a keyed index, and each number in one by
// parts of two more. The history of a number or a mailbox is stored for a day, and the tally of a network of suspect
// client addresses for two hours, each under a keyed index. Decisions show a masked recipient.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, idsUnder, type StoreOf } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { NumberHistory } from '../../../machines/fraud.number.ts'
import type { Block } from '../../../machines/fraud.number-block.ts'
import type { Tally } from '../../../machines/fraud.tally.ts'
import type { Reason } from '../../../machines/fraud.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import { counterKey } from '../verifications/counter-names.ts'
import type { AppMode } from '../verifications/lookup-indexes.ts'

/** A state that many processes update. */
export interface SharedStateDoc<State> extends RevisedDoc {
  app_id: string
  state: State
  purge_at: Date
}

export type TallyDoc = SharedStateDoc<Tally>
export type BlockDoc = SharedStateDoc<Block>
export type HistoryDoc = SharedStateDoc<NumberHistory>

/** A decision to refuse a message, or to move it to another channel. */
export interface DecisionDoc extends Doc {
  app_id: string
  company_id: string
  mode: Mode
  at: number
  /** False when the guard only records: the message was sent. */
  enforced: boolean
  outcome: 'refused' | 'moved'
  /** The channel that the message was moved to. */
  channel: Channel | null
  verdict: 'slow' | 'refuse'
  score: number
  reasons: Reason[]
  /** The verification of the message. It does not exist if its first message was refused. */
  otp_id: string
  /** The recipient's keyed index. */
  recipient: string
  /** The recipient as the API shows it. */
  masked: string
  country: string | null
  /** How many decisions this process dropped since the last one it stored, because there were too many. */
  unrecorded: number
  purge_at: Date
}

/** The guard counts verifications that servers and that devices started apart: anyone can read a publishable key, and what is sent with it
 *  must not stop the app's servers. */
export interface GuardScope extends AppMode {
  /** The kind of key that started the verifications. */
  kind: KeyKind
}

/** `name` is a country (`GB`), a range (`+447700`), the keyed index of a mail domain, or one of those in machines/fraud.groups.ts. */
export const tallyId = (scope: GuardScope, name: string): string => counterKey(scope, scope.kind, name)

/** Many small documents, read by their ids. */
const COUNTED = {
  indexes: [],
  purged: true,
  sharding: { key: { _id: 'hashed' }, byId: { asker: 'sweeper', why: 'apps that are deleted' } },
} as const

export const FRAUD_COLLECTIONS = {
  fraud_tallies: collection<TallyDoc>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [{ fields: { app_id: 1, _id: 1 } }],
    purged: true,
  }),
  fraud_blocks: collection<BlockDoc>({ ...COUNTED, belongsTo: [{ to: 'apps', ofOwner: idsUnder }] }),
  fraud_numbers: collection<HistoryDoc>({ ...COUNTED, belongsTo: [{ to: 'apps', ofOwner: idsUnder }] }),
  fraud_networks: collection<TallyDoc>({ ...COUNTED, belongsTo: [{ to: 'apps', ofOwner: idsUnder }] }),
  fraud_decisions: collection<DecisionDoc>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [
      {
        fields: { app_id: 1, _id: -1 },
        scatter: { asker: 'people', why: 'lists; the sweep of retention, once a minute per app' },
      },
      { fields: { recipient: 1, _id: -1 }, scatter: { asker: 'people', why: 'searches and erasures' } },
    ],
    purged: true,
    sharding: { key: { _id: 'hashed' } },
  }),
}

export type FraudStore = StoreOf<typeof FRAUD_COLLECTIONS>
