// Documents that grant access carry a MAC over their id and every member that grants, under a key that only roles with
// CODE_SECRETS have. In: a document. Out: its MAC; or, of a stored one, whether it may be believed. Who can only write
// to the store, or has only DATA_KEYS, cannot make such a document, nor give one the role, company or operator of
// another. An old document that is put back is not told from a new one.
//
// The address of a user is covered in the clear, not as it is sealed: the sweeper seals it again when data keys rotate, and has no
// CODE_SECRETS.
import type { Keyring, MacMaker } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Logger } from '../../../infra/log/log.ts'
import {
  type PasskeyDoc,
  type SessionDoc,
  type SignInFlowDoc,
  type SignInTicketDoc,
  type UserDoc,
  userContext,
} from './documents.ts'

interface Granting {
  users: UserDoc
  sessions: SessionDoc
  passkeys: PasskeyDoc
  sign_in_tickets: SignInTicketDoc
  sign_in_flows: SignInFlowDoc
}
type Kind = keyof Granting

/** `missing`: the document has no MAC. */
export type GrantMaker = MacMaker | 'missing'

export interface Grants {
  /** The document with its MAC. */
  stamp<K extends Kind>(kind: K, doc: Granting[K]): Granting[K]
  makerOf<K extends Kind>(kind: K, doc: Granting[K]): GrantMaker
  /** Whether the document may be believed. One that may not is logged. */
  isGenuine<K extends Kind>(kind: K, doc: Granting[K]): boolean
}

export interface GrantDeps {
  keyring: Pick<Keyring, 'mac' | 'makerOf' | 'unseal'>
  log: Pick<Logger, 'warn'>
}

export function createGrants({ keyring, log }: GrantDeps): Grants {
  const grantsOf: { [K in Kind]: (doc: Granting[K]) => (string | number | null)[] } = {
    // The MAC of an invitation covers one text more, so that removing that text does not make a member of it.
    users: ({ _id, company_id, role, sealed_email, invited_until }) => [
      company_id,
      role,
      unsealOrNull(keyring, sealed_email, userContext.email(_id)),
      ...(invited_until === undefined ? [] : [invited_until]),
    ],
    sessions: ({ hash, user_id, operator, expires_at, stepped_up_at }) => [
      hash,
      user_id,
      operator?.name ?? null,
      operator?.token_index ?? null,
      expires_at,
      stepped_up_at,
    ],
    passkeys: ({ user_id, credential_id, public_key, counter }) => [user_id, credential_id, public_key, counter],
    sign_in_tickets: ({ operator, expires_at }) => [operator.name, operator.token_index, expires_at],
    sign_in_flows: ({ otp_id, mode, expires_at }) => [otp_id, mode, expires_at],
  }
  /** As JSON, so that null is no text. */
  const textsOf = <K extends Kind>(kind: K, doc: Granting[K]): string[] =>
    [doc._id, ...grantsOf[kind](doc)].map(member => JSON.stringify(member))

  // An attacker who writes to the store can write anything there.
  const makerOf: Grants['makerOf'] = (kind, doc) =>
    typeof doc.mac === 'string' ? keyring.makerOf(doc.mac, kind, textsOf(kind, doc)) : 'missing'

  return {
    stamp: (kind, doc) => ({ ...doc, mac: keyring.mac(kind, textsOf(kind, doc)) }),
    makerOf,
    isGenuine(kind, doc) {
      const maker = makerOf(kind, doc)
      if (maker === 'current' || maker === 'former') return true
      log.warn({ collection: kind, document_id: doc._id, why: `mac_${maker}` }, 'access.refused')
      return false
    },
  }
}
