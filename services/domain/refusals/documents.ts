// What is stored of refused sends and resends, for the question why no code arrived. The recipient is masked, and found by its keyed index.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Doc } from '../../../infra/store/docs.ts'
import { collection } from '../../../infra/store/store.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import type { AskedRoute } from '../../../machines/channels.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'

/** As in the answer to the caller. */
export type RefusalType = ErrorType | 'HTTPException'

/** What the rules looked at beside what `RefusalDoc` has. */
export interface RefusedCall extends AskedRoute {
  call: 'send' | 'resend' | 'message'
  /** The kind of the API key. */
  kind: KeyKind
  /** For a resend, and a send that was treated as one: the verification, which has the recipient and the client address. */
  otp_id?: string
  /** For another send: the recipient and the client address as `RefusedPerson`, sealed. */
  sealed?: string
  /** The reputation of the client address; absent where no list had it. */
  reputation?: 'suspect' | 'abusive'
  /** The call brought a challenge solved at the highest difficulty. */
  hardest_challenge?: true
  /** A login asked for it, at a receiver of services/edge/hooks. */
  from_login?: true
}

/** Who was refused. */
export interface RefusedPerson {
  recipient: string
  client_ip: string | null
}

export const refusedPersonContext = (refusal_id: string): string => `refusal:${refusal_id}:person`

/** Null where it is not kept, and where its data key is not configured now. */
export function refusedPerson(
  keyring: Pick<Keyring, 'unseal'>,
  { _id, judged }: Pick<RefusalDoc, '_id' | 'judged'>,
): RefusedPerson | null {
  const text = judged?.sealed === undefined ? null : unsealOrNull(keyring, judged.sealed, refusedPersonContext(_id))
  return text === null ? null : JSON.parse(text)
}

export interface RefusalDoc extends Doc {
  company_id: string
  app_id: string
  mode: Mode
  key_id: string
  at: number
  /** Null where the call came without one. */
  request_id: string | null
  type: RefusalType
  /** The scope of a limit that was hit. */
  scope: LimitScope | null
  country: string | null
  masked: string | null
  /** The recipient's keyed index, as that of a verification; of a text that is no recipient, the index of the text. Absent where the
   *  refusal came before the recipient was read. */
  recipient?: string
  /** How the call can be judged again, by other settings; absent in test mode, and of what the edge refused. */
  judged?: RefusedCall
  purge_at: Date
}

export const REFUSAL_COLLECTIONS = {
  refusals: collection<RefusalDoc>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [
      {
        fields: { app_id: 1, _id: -1 },
        scatter: {
          asker: 'people',
          why: 'lists; settings that are tried; the sweep of retention, once a minute per app',
        },
      },
      { fields: { company_id: 1, _id: -1 }, scatter: { asker: 'people', why: 'lists' } },
      {
        fields: { recipient: 1, _id: -1 },
        partial: { recipient: { $gt: '' } },
        scatter: { asker: 'people', why: 'searches and erasures' },
      },
    ],
    purged: true,
    sharding: { key: { _id: 'hashed' }, byId: { asker: 'people', why: 'lists over all companies; data keys rotate' } },
  }),
}
