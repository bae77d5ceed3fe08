// A solved challenge of the highest difficulty, which takes some 20 s to solve.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { encodeSalt, HARDEST_DIFFICULTY, SALT_RANDOM_BYTES } from '../../machines/challenge.ts'

const SALT = encodeSalt(
  { difficulty: HARDEST_DIFFICULTY, expires_at: Date.UTC(2100, 0) },
  new Uint8Array(SALT_RANDOM_BYTES),
)
const NONCE = 1_008_715_563

/** `subject`: the recipient of a send, the verification of a resend. One store takes it from one accepted call. */
export function hardestSolution(
  keyring: Pick<Keyring, 'signatures'>,
  key_id: string,
  call: 'send' | 'resend',
  subject: string,
): string {
  const [signature] = keyring.signatures(['challenge', SALT, key_id, call, subject])
  return `${SALT}.${NONCE}.${signature}`
}
