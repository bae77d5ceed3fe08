// A user in the audit log, which is kept for good: the address is masked, and the name is left out.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../infra/crypto/unseal-or-null.ts'
import { maskEmail } from '../../machines/masking.ts'
import { type UserDoc, userContext } from '../domain/users/documents.ts'

export function auditFieldsOf(keyring: Pick<Keyring, 'unseal'>, { _id, sealed_email, role }: UserDoc) {
  const email = unsealOrNull(keyring, sealed_email, userContext.email(_id))
  return { email: email === null ? null : maskEmail(email), role }
}
