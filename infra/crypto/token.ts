// The verification token: proof that a code was entered on a device. Derived, so that it can be given again without being stored,
// and bound to the verification, its generation and the key that verified. It names its verification, which makes it findable.
import type { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { isId } from '../ids.ts'
import { encodeLengthPrefixed } from './length-prefix.ts'

export interface TokenInputs {
  otpId: string
  generation: number
  /** Of the API key that verified. */
  keyId: string
}

const PREFIX = 'otp_vt_'
const ULID_CHARS = 26

export function deriveToken({ otpId, generation, keyId }: TokenInputs, secret: Buffer): string {
  const proof = createHmac('sha256', secret).update(encodeLengthPrefixed(['token', otpId, String(generation), keyId]))
  return `${PREFIX}${otpId.slice('otp_'.length)}${proof.digest('base64url')}`
}

/** The verification a token claims to prove; null for what cannot be a token. Whether it is true, only deriving it again tells. */
export function parseToken(text: string): { otpId: string } | null {
  if (!/^otp_vt_[0-9a-z]{26}[\w-]{43}$/.test(text)) return null
  const otpId = `otp_${text.slice(PREFIX.length, PREFIX.length + ULID_CHARS)}`
  return isId('otp', otpId) ? { otpId } : null
}
