// The context that each sealed text is bound to: copied to another document, field or message it cannot be unsealed.
import type { KeyOwner } from './lookup-indexes.ts'

/** At rest, in the document of a verification. */
export const atRest = {
  recipient: (otp_id: string): string => `otp:${otp_id}:recipient`,
  clientIp: (otp_id: string): string => `otp:${otp_id}:client_ip`,
  salt: (otp_id: string): string => `otp:${otp_id}:salt`,
  link: (otp_id: string): string => `otp:${otp_id}:link`,
}

/** At rest, in the document of an idempotency key, which the edge seals before it is known to which verification the key leads. */
export const idempotencyKeyContext = ({ company_id, mode, kind }: KeyOwner): string =>
  `claim:${company_id}:${mode}:${kind}:key`

/** In broker messages to the OTP actor: `call` from the edge, `report` from the channels and the sandbox. */
export const inFlight = {
  recipient: 'call:recipient',
  clientIp: 'call:client_ip',
  code: 'call:code',
  token: 'call:token',
  from: 'report:from',
}
