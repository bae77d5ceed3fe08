// The verification token: proof that a code was entered on a device. The token is derived, so that it can be given again without being
// stored. It is bound to the verification, its generation and the API key that verified, and it holds the verification's id, by
// which the verification is found.
import type { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { isId } from '../ids.ts'
import { encodeLengthPrefixed } from './length-prefix.ts'

export interface TokenInputs {
  otpId: string
  generation: number
  /** The id of the API key that verified. */
  keyId: string
}

const PREFIX = 'otp_vt_'
const ULID_CHARS = 26

export function deriveToken({ otpId, generation, keyId }: TokenInputs, secret: Buffer): string {
  const proof = createHmac('sha256', secret).update(encodeLengthPrefixed(['token', otpId, String(generation), keyId]))
  return `${PREFIX}${otpId.slice('otp_'.length)}${proof.digest('base64url')}`
}

/** The id of the verification in a token; null for a text that is no token. Only deriving the token again shows whether it is genuine. */
export function parseToken(text: string): { otpId: string } | null {
  if (!/^otp_vt_[0-9a-z]{26}[\w-]{43}$/.test(text)) return null
  const otpId = `otp_${text.slice(PREFIX.length, PREFIX.length + ULID_CHARS)}`
  return isId('otp', otpId) ? { otpId } : null
}
