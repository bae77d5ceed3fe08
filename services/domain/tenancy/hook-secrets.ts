// The secrets of the hook by which Supabase Auth has its codes delivered, one for each mode. Supabase makes the secret and shows it once.
import { z } from 'zod'
import { isBase64 } from '../../../infra/base64.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Mode } from '../../../machines/otp.ts'
import { hookSecretContext } from './documents.ts'

/** As Supabase shows it. */
const SECRET = /^(?:v1,)?whsec_(.+)$/
const MIN_SECRET_BYTES = 16

const isSecret = (text: string): boolean => {
  const encoded = SECRET.exec(text)?.[1] ?? ''
  return isBase64(encoded) && Buffer.from(encoded, 'base64').length >= MIN_SECRET_BYTES
}

/** Null: none. */
export const hookSecret = z
  .string()
  .refine(isSecret, 'must be `v1,whsec_` and at least 16 bytes in base64')
  // The version before it is not part of the secret.
  .transform(secret => secret.replace(/^v1,/, ''))
  .nullable()

export const sealHookSecret = (
  keyring: Pick<Keyring, 'seal'>,
  secret: string | null,
  { app_id, mode }: { app_id: string; mode: Mode },
): string | null => (secret === null ? null : keyring.seal(secret, hookSecretContext(app_id, mode)))
