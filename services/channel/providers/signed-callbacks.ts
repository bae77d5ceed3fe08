// What the callbacks of several vendors share. In: a body whose signature was checked. Out: its parsed content, or `BadCallback`.
import { Buffer } from 'node:buffer'
import type { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { ReportedStatus } from '../../../machines/otp.ts'
import { type VendorErrors, WEBHOOK_USER } from '../../domain/tenancy/provider-types/declaration.ts'
import { BadCallback, type Callback, type CallbackItem, type ReceiptFailure } from '../provider.ts'
import { isListed, parseJson } from './vendor-http.ts'

const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000

/** Whether a signed time is at most five minutes before or after now. Clocks differ; an older callback may be a replay. */
export const isRecent = (at: number, now: number): boolean => Math.abs(now - at) <= MAX_CLOCK_DIFFERENCE_MS

/** The same of a time in seconds, as a header has it. */
export const isRecentTimestamp = (seconds: string, now: number): boolean =>
  /^\d{1,12}$/.test(seconds) && isRecent(Number(seconds) * 1000, now)

/** Whether a callback brings the password of HTTP Basic authentication. Such a callback has no time: a replay repeats a receipt, which
 *  changes nothing. */
export const hasWebhookPassword = ({ authorization = '' }: Callback['headers'], password: string): boolean =>
  isSameSecret(authorization, `Basic ${Buffer.from(`${WEBHOOK_USER}:${password}`).toString('base64')}`)

/** A byte order mark is skipped here, although it is part of the signed bytes. */
export function parseCallbackBody<T>(schema: z.ZodType<T>, body: Uint8Array): T {
  const parsed = schema.safeParse(parseJson(body))
  if (!parsed.success) throw new BadCallback('the body is not what the vendor documents')
  return parsed.data
}

/** A receipt by what the vendor calls the message; nothing for a status that is not one of ours. */
export function receiptItems(
  message: { delivery_id: string | null; reference: string | null },
  status: ReportedStatus | undefined,
  failure: () => ReceiptFailure,
): CallbackItem[] {
  if ((message.delivery_id ?? message.reference) === null) throw new BadCallback('it names no message')
  if (status === undefined) return []
  return [{ kind: 'receipt', ...message, status, ...(status === 'failed' ? { failure: failure() } : {}) }]
}

/** Why a message failed, by the code of its receipt. */
export function failureBy(errors: VendorErrors, vendorCode: string | null, vendorText: string | null): ReceiptFailure {
  const code = vendorCode ?? undefined
  if (isListed(errors.superseded, code)) return { reason: 'superseded', vendorCode, vendorText }
  if (isListed(errors.unsubscribed, code))
    return { reason: 'recipient_unreachable', unsubscribed: true, vendorCode, vendorText }
  const isRecipients = isListed(errors.recipient, code) || isListed(errors.unreachable, code)
  return { reason: isRecipients ? 'recipient_unreachable' : 'provider_failed', vendorCode, vendorText }
}
