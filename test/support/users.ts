// Users of the dashboard, stored directly. In: a store and a company. Out: a user.
import type { CountersignStore } from '../../services/domain/collections.ts'
import { emailIndex, type UserDoc, type UserRole, userContext } from '../../services/domain/users/documents.ts'
import { createGrants } from '../../services/domain/users/grants.ts'
import { createCapturedLog } from './captured-log.ts'
import { testKeyring } from './tenancy.ts'

let users = 0

export const testGrants = (keyring = testKeyring()) => createGrants({ keyring, log: createCapturedLog().log })

/** `keyring`: by default the one of a test dashboard. `address`: by default one that no other user has. */
export async function addUser(
  store: CountersignStore,
  company_id: string,
  role: UserRole | 'invited',
  keyring = testKeyring(),
  address?: string,
): Promise<UserDoc> {
  users += 1
  // Ids sort in the order of time.
  const number = String(users).padStart(6, '0')
  const [_id, email] = [`usr_${number}`, address ?? `user${number}@shop.example`]
  const user = testGrants(keyring).stamp('users', {
    _id,
    company_id,
    role: role === 'invited' ? 'viewer' : role,
    ...(role === 'invited' ? { invited_until: Date.UTC(2100, 0, 1) } : {}),
    email: emailIndex(keyring, email),
    sealed_email: keyring.seal(email, userContext.email(_id)),
    sealed_name: keyring.seal('Ada Lovelace', userContext.name(_id)),
    created_at: 0,
    last_sign_in_at: null,
    rev: 0,
  })
  await store.docs('users').insert([user])
  return user
}
