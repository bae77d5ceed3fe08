// SMS by Twilio's Programmable Messaging. In: a message. Out: a Message resource, named by its SID.
// https://www.twilio.com/docs/messaging/api/message-resource
// Twilio calls back with each new status, at an address that names the delivery: a receipt that overtakes the answer finds it too.
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ProviderConfigs } from '../../domain/tenancy/providers.ts'
import {
  BadCallback,
  BadSignature,
  type DeliveryJob,
  type Provider,
  type ProviderDeps,
  RecipientFault,
  UnknownOutcome,
} from '../provider.ts'
import { fieldsOf, isSignedByTwilio } from './twilio.signature.ts'
import { callVendor, faultFromStatus, isSuccess, type VendorResponse } from './vendor-http.ts'

type Config = ProviderConfigs['twilio']

export function createTwilioProvider(
  { config }: { config: Config },
  { outbound, clock, callbackUrl }: ProviderDeps,
): Provider {
  const { account_sid, auth_token, base_url } = config
  const url = `${base_url}/2010-04-01/Accounts/${encodeURIComponent(account_sid)}/Messages.json`
  const headers = {
    authorization: `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  }

  const provider: Provider = {
    async send({ recipient, text, job }, signal) {
      const form = new URLSearchParams({ To: recipient, Body: text, ...senderOf(config) })
      form.set('ValidityPeriod', String(validitySeconds(job, clock.now())))
      const { delivery_id } = job.delivery
      if (callbackUrl !== null) form.set('StatusCallback', `${callbackUrl}?${new URLSearchParams({ delivery_id })}`)
      const answer = await callVendor(outbound, { method: 'POST', url, headers, body: form.toString(), signal })
      return { reference: acceptedReference(answer, clock.now()) }
    },
  }
  if (callbackUrl === null) return provider
  return {
    ...provider,
    // Twilio signs no time, so nothing tells a replay: it says once more what was said before, which changes nothing.
    parseCallback({ url: called, headers: given, body }) {
      const fields = fieldsOf(body)
      if (!fields || !isSignedByTwilio(given['x-twilio-signature'], { url: called, fields, auth_token }))
        throw new BadSignature()
      const delivery_id = called.searchParams.get('delivery_id')
      const reference = fields.get('MessageSid')
      const status = fields.get('MessageStatus')
      if (status === null || (delivery_id ?? reference) === null) throw new BadCallback('no status of a message')
      const report = STATUSES.get(status)
      return report ? [{ kind: 'receipt', delivery_id, reference, status: report }] : []
    },
  }
}

/** With both, Twilio picks this sender of the service's pool. */
const senderOf = ({ from, messaging_service_sid }: Config): Record<string, string> => ({
  ...(from === null ? {} : { From: from }),
  ...(messaging_service_sid === null ? {} : { MessagingServiceSid: messaging_service_sid }),
})

/** Twilio takes 1 to 36 000 seconds and advises more than 5. */
const MIN_VALIDITY_S = 6
const MAX_VALIDITY_S = 36_000

/** A message still in Twilio's queue when its code dies is not sent, nor paid for. */
const validitySeconds = ({ otp }: DeliveryJob, now: number): number =>
  Math.min(Math.max(Math.ceil((otp.expires_at - now) / 1000), MIN_VALIDITY_S), MAX_VALIDITY_S)

const ACCEPTED = z.object({ sid: z.string().min(1).max(100) })
/** No longer than a code, which is logged: a number may be anybody's. */
const ERROR_BODY = z.object({ code: z.int().min(0).max(999_999) })

function acceptedReference(answer: VendorResponse, now: number): string {
  if (isSuccess(answer)) {
    const accepted = ACCEPTED.safeParse(answer.json)
    if (accepted.success) return accepted.data.sid
    throw new UnknownOutcome('it took the message, as it seems, and named none')
  }
  const code = ERROR_BODY.safeParse(answer.json).data?.code
  if (code !== undefined && answer.status < 500 && RECIPIENT_ERRORS.has(code))
    throw new RecipientFault(`it answered ${answer.status}, ${code}`)
  throw faultFromStatus(
    answer,
    now,
    code,
    code !== undefined && DESTINATION_ERRORS.has(code) ? 'destination' : 'provider',
  )
}

/** What this account, or this sender, may not send to. Another provider may do better. */
const DESTINATION_ERRORS: ReadonlySet<number> = new Set([
  21266, // to itself
  21408, // a region that is not enabled
  21608, // not verified, on a trial
  21612, // no route from this sender
])

/** https://www.twilio.com/docs/api/errors. */
const RECIPIENT_ERRORS: ReadonlySet<number> = new Set([
  21211, // not a valid number
  21214, // cannot be reached
  21217, // does not appear to be valid
  21265, // a short code
  21268, // a premium number
  21610, // the user said STOP; no other provider is to be used to get round it
  21614, // not a mobile number
  21635, // a landline
])

/** Even the first statuses prove that the message was taken, which is news after a call without an answer. */
const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['accepted', 'sent'],
  ['scheduled', 'sent'],
  ['queued', 'sent'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])
