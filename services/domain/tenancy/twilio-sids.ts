// The ids by which Twilio's API knows a company, an app, a verification and its messages. In: one of our ids. Out: two letters for what it
// is, and 32 hex digits: the 128 bits of its ULID. An id from a bootstrap file need not hold a ULID; its digits are the first of its
// SHA-256. Those are never looked up: an API key says which company and app it belongs to, so their SIDs are computed and compared.
import { createHash } from 'node:crypto'
import { hexOfUlid, ulidOfHex } from '../../../infra/ids.ts'

const PREFIXES = { cmp: 'AC', app: 'VA', otp: 'VE', dlv: 'VL' } as const

export const twilioSid = (kind: keyof typeof PREFIXES, id: string): string =>
  `${PREFIXES[kind]}${hexOfUlid(id) ?? createHash('sha256').update(id).digest('hex').slice(0, 32)}`

/** The verification that a SID names; null for a text that is no such SID. Every verification has a ULID. */
export function otpIdOfSid(sid: string): string | null {
  const hex = VERIFICATION_SID.exec(sid)?.[1]
  return hex === undefined ? null : `otp_${ulidOfHex(hex)}`
}

const VERIFICATION_SID = /^VE([0-9a-f]{32})$/i
