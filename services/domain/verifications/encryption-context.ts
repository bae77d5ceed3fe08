// The context that each sealed text is bound to: copied to another document, field or message it cannot be unsealed.
import { CONSOLE_APP_ID } from '../tenancy/console.ts'
import type { KeyOwner } from './lookup-indexes.ts'

/** At rest, in the document of a verification. */
export const atRest = {
  recipient: (otp_id: string): string => `otp:${otp_id}:recipient`,
  clientIp: (otp_id: string): string => `otp:${otp_id}:client_ip`,
  /** That of a code for signing in to the dashboard is bound to the console's app too: an intruder who can write to the store must not be
   *  able to move the verification to an app of their own and have the code sent there. */
  salt: ({ otp_id, app_id }: { otp_id: string; app_id: string }): string =>
    app_id === CONSOLE_APP_ID ? `otp:${otp_id}:console:salt` : `otp:${otp_id}:salt`,
  givenCode: (otp_id: string): string => `otp:${otp_id}:code`,
  link: (otp_id: string): string => `otp:${otp_id}:link`,
  metadata: (otp_id: string): string => `otp:${otp_id}:metadata`,
  writer: (delivery_id: string): string => `delivery:${delivery_id}:writer`,
}

/** At rest, in the document of an idempotency key, which the edge seals before it is known to which verification the key leads. */
export const idempotencyKeyContext = ({ company_id, mode, kind }: KeyOwner): string =>
  `claim:${company_id}:${mode}:${kind}:key`

/** In broker messages to the OTP actor: `call` from the edge, `report` from the channels and the sandbox. */
export const inFlight = {
  recipient: 'call:recipient',
  clientIp: 'call:client_ip',
  metadata: 'call:metadata',
  code: 'call:code',
  token: 'call:token',
  from: 'report:from',
  userId: 'report:user_id',
}

/** At rest, in the inbox of the sandbox, which keeps the code of a message when the message itself has it no more. */
export const inboxCodeContext = (delivery_id: string): string => `sandbox:${delivery_id}:code`
