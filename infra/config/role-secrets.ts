// Which secrets a role works with. In: the roles of a process. Out: the secrets that it must have, and those that it
// must not hold. A process that is broken into gives away only what it holds: an edge, which strangers reach, can
// compute no code.
import type { Role } from './roles.ts'

const SECRET_NAMES = ['CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN'] as const
export type SecretName = (typeof SECRET_NAMES)[number]

/** docs/configuration.md has this table too, and infra/deploy/compose.yml gives each service what it says. */
export const ROLE_SECRETS: Readonly<Record<Role, readonly SecretName[]>> = {
  // Seals what callers send, and opens answers and the secrets with which vendors sign their callbacks.
  edge: ['DATA_KEYS'],
  // Chooses the secret of a new code, compares codes and derives tokens.
  otp: ['CODE_SECRETS', 'DATA_KEYS'],
  // Writes the code into the message.
  'channel:sms': ['CODE_SECRETS', 'DATA_KEYS'],
  'channel:whatsapp': ['CODE_SECRETS', 'DATA_KEYS'],
  'channel:telegram': ['CODE_SECRETS', 'DATA_KEYS'],
  'channel:email': ['CODE_SECRETS', 'DATA_KEYS'],
  // Opens the signing secrets of endpoints.
  webhook: ['DATA_KEYS'],
  // Seals documents again when data keys rotate.
  sweeper: ['DATA_KEYS'],
  // Shows the codes of test messages in the sandbox's inbox, and makes the MACs of sessions and users.
  dashboard: ['CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN'],
}

export const needsSecret = (roles: readonly Role[], name: SecretName): boolean =>
  roles.some(role => ROLE_SECRETS[role].includes(name))

export const neededSecrets = (roles: readonly Role[]): readonly SecretName[] =>
  SECRET_NAMES.filter(name => needsSecret(roles, name))

/** What none of the roles needs is not even read. ADMIN_TOKEN is an exception: where it is given, it opens /metrics on the public port. */
export const unusedSecrets = (roles: readonly Role[]): readonly SecretName[] =>
  SECRET_NAMES.filter(name => name !== 'ADMIN_TOKEN' && !needsSecret(roles, name))
