// The secrets of a login that signs its calls at /hooks/…: a few for each mode. The login makes them and shows each
// once. Supabase has one for each of its hooks, and writes several of a hook as `A|B`.
import { z } from 'zod'
import { isBase64 } from '../../../infra/base64.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Mode } from '../../../machines/otp.ts'
import { hookSecretContext, type SignedLogin } from './documents.ts'

/** Each is tried on every call. */
export const MAX_HOOK_SECRETS = 4
/** As Supabase shows it. */
const SECRET = /^(?:v1,)?whsec_(.+)$/
const MIN_SECRET_BYTES = 16

export const isHookSecret = (text: string): boolean => {
  const encoded = SECRET.exec(text)?.[1] ?? ''
  return isBase64(encoded) && Buffer.from(encoded, 'base64').length >= MIN_SECRET_BYTES
}

/** The secrets in a text as a login shows them. The version before each is not part of it. */
const secretsIn = (text: string): string[] => text.split('|').map(secret => secret.trim().replace(/^v1,/, ''))

/** The secrets of one mode: what a login shows, or a list of that; null or an empty list: none. `mayBe`: what else may stand in it. */
export const hookSecrets = (mayBe: (text: string) => boolean = () => false) =>
  z
    .union([z.string(), z.array(z.string())], 'must be a text or a list of texts')
    .nullable()
    .transform(given => [...new Set([given ?? []].flat().flatMap(secretsIn))])
    .refine(
      secrets => secrets.every(secret => isHookSecret(secret) || mayBe(secret)),
      'must be `v1,whsec_` and at least 16 bytes in base64',
    )
    .refine(secrets => secrets.length <= MAX_HOOK_SECRETS, `may be ${MAX_HOOK_SECRETS} at most`)

/** A login of an app in one of its modes. */
export interface HookPlace {
  app_id: string
  login: SignedLogin
  mode: Mode
}

export const sealHookSecret = (
  keyring: Pick<Keyring, 'seal'>,
  secret: string,
  { app_id, login, mode }: HookPlace,
): string => keyring.seal(secret, hookSecretContext(app_id, login, mode))

/** Null for one that cannot be read now. */
export const openHookSecret = (
  keyring: Pick<Keyring, 'unseal'>,
  sealed: string,
  { app_id, login, mode }: HookPlace,
): string | null => unsealOrNull(keyring, sealed, hookSecretContext(app_id, login, mode))
