// What is stored about recipients who asked for no more messages: one document for each app, mode, recipient and channel, in
// the shape of a rule that blocks. It is found by the recipient's keyed index, from which its id is made. The recipient is
// sealed in it for the rotation of data keys and for the list, and is taken out when the person is erased: the block itself
// stays, by its index alone, because the person asked for it (docs/privacy.md).
import { createHash } from 'node:crypto'
import { newId } from '../../../infra/ids.ts'
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { OptOutChannel } from '../../../machines/opt-out.ts'
import type { Mode } from '../../../machines/otp.ts'

export interface RecipientRuleDoc extends RevisedDoc {
  company_id: string
  app_id: string
  mode: Mode
  rule: 'blocked'
  /** Who made it. */
  by: 'recipient'
  channel: OptOutChannel
  /** The recipient's keyed index, as that of a verification. */
  recipient: string
  /** Null once the person was erased. */
  sealed_recipient: string | null
  masked: string | null
  /** `lifted`: the recipient asked for messages again, or an operator removed it. Then the document is kept for a while, so
   *  that a message of before that comes again changes nothing. */
  state: 'holds' | 'lifted'
  /** `message`: the recipient wrote it to us. `vendor`: a vendor refused a message for it. */
  told_by: 'message' | 'vendor'
  /** The provider that brought it; null in the sandbox. */
  provider: string | null
  /** When its state last changed. */
  at: number
  /** The latest reports that changed it. */
  heard: string[]
  /** Of one that holds: time and id, the order of the list. */
  listed?: string
  /** Of one that was lifted. */
  purge_at?: Date
}

export const ruleContext = (rule_id: string): string => `recipient rule:${rule_id}:recipient`

/** The same for everything that is said of a recipient on a channel, so that it is found without a search. */
export function ruleId(recipientIndex: string, channel: OptOutChannel): string {
  const digest = createHash('sha256').update(`${recipientIndex}:${channel}`).digest()
  return newId('rcp', digest.readUIntBE(0, 6), size => digest.subarray(6, 6 + size))
}

const TIME_DIGITS = 15

export const listedAt = (at: number, rule_id: string): string => `${String(at).padStart(TIME_DIGITS, '0')}:${rule_id}`

export const RECIPIENT_COLLECTIONS = {
  recipient_rules: collection<RecipientRuleDoc>({
    indexes: [
      {
        fields: { app_id: 1, listed: -1 },
        partial: { listed: { $gt: '' } },
        scatter: { asker: 'people', why: 'lists' },
      },
      { fields: { app_id: 1, _id: 1 }, scatter: { asker: 'sweeper', why: 'an app is deleted' } },
    ],
    purged: true,
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    sharding: { key: { _id: 'hashed' }, byId: { asker: 'sweeper', why: 'data keys rotate' } },
  }),
}

export type RecipientStore = StoreOf<typeof RECIPIENT_COLLECTIONS>
