// SMS by Twilio's Programmable Messaging. In: a message. Out: the SID of a Message resource.
// Users' own messages come to the same address, where it is entered at the sender.
// The callback address contains the delivery id, so that a receipt that arrives before Twilio's answer is matched too.
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import type { OptOut } from '../../../machines/opt-out.ts'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { ErrorCodes } from '../../domain/tenancy/provider-types/declaration.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import { twilio } from '../../domain/tenancy/provider-types/twilio.ts'
import {
  BadCallback,
  BadSignature,
  type CallbackItem,
  codeValiditySeconds,
  type Provider,
  type ProviderDeps,
  type ReceiptFailure,
} from '../provider.ts'
import { failureBy, receiptItems } from './signed-callbacks.ts'
import { callVendor, readAnswer } from './vendor-http.ts'

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
    async send({ recipient, text, delivery_id, expires_at }, signal) {
      const form = new URLSearchParams({ To: recipient, Body: text, ...senderOf(config) })
      form.set('ValidityPeriod', String(codeValiditySeconds(expires_at, clock.now(), VALIDITY)))
      if (callbackUrl !== null) form.set('StatusCallback', `${callbackUrl}?${new URLSearchParams({ delivery_id })}`)
      const answer = await callVendor(outbound, { method: 'POST', url, headers, body: form.toString(), signal })
      return readAnswer(answer, clock.now(), { id: ID, code: codeOf(answer.json), errors: twilio.errors })
    },
  }
  if (callbackUrl === null) return provider
  return {
    ...provider,
    // Twilio signs no time, so a replay cannot be detected. It repeats a receipt, which changes nothing.
    parseCallback({ url: called, headers: given, body }) {
      const fields = fieldsOf(body)
      if (!fields || !isSignedByTwilio(given['x-twilio-signature'], { url: called, fields, auth_token }))
        throw new BadSignature()
      const delivery_id = called.searchParams.get('delivery_id')
      const reference = fields.get('MessageSid')
      const status = fields.get('MessageStatus')
      if (status === null) return messageOf(fields)
      return receiptItems({ delivery_id, reference }, STATUSES.get(status), () => failureOf(status, fields))
    },
  }
}

/** With both set, Twilio uses this sender of the messaging service. */
const senderOf = ({ from, messaging_service_sid }: Config): Record<string, string> => ({
  ...(from === null ? {} : { From: from }),
  ...(messaging_service_sid === null ? {} : { MessagingServiceSid: messaging_service_sid }),
})

/** Twilio accepts 1 to 36 000 seconds and recommends more than 5. */
const VALIDITY = { min: 6, max: 36_000 }

const ID = z.object({ sid: z.string().min(1).max(100) }).transform(({ sid }) => sid)
/** The code is logged, so a longer number is not accepted: it may be a recipient's. */
const ERROR_BODY = z.object({ code: z.int().min(0).max(999_999) })

const codeOf = (json: unknown): string | undefined => ERROR_BODY.safeParse(json).data?.code.toString()

/** A receipt has a code and seldom a text: Twilio's names for codes that are not the recipient's fault. */
const OTHER_TEXTS: ErrorCodes = {
  30001: 'Queue overflow',
  30002: 'Account suspended',
  30007: 'Message filtered',
  30008: 'Unknown error',
}

function failureOf(status: string, fields: URLSearchParams): ReceiptFailure {
  const [code = status] = /^[1-9]\d{0,5}$/.exec(fields.get('ErrorCode') ?? '') ?? []
  const text =
    fields.get('ErrorMessage') ||
    ({ ...OTHER_TEXTS, ...twilio.errors.unreachable, ...twilio.errors.unsubscribed }[code] ?? null)
  const failure = failureBy(twilio.errors, code, text)
  return status === 'canceled' ? { ...failure, reason: 'superseded' } : failure
}

/** With Advanced Opt-Out a messaging service has words of its own, and Twilio says which of them it has recognized. */
const OPT_OUT_TYPES: ReadonlyMap<string, OptOut> = new Map([
  ['STOP', 'stop'],
  ['START', 'start'],
])

/** A user's own message has a body and no status. It is answered with an empty text, so Twilio replies nothing. */
function messageOf(fields: URLSearchParams): CallbackItem[] {
  const [id, from, text] = [fields.get('MessageSid'), fields.get('From'), fields.get('Body')]
  if (!id || !from || text === null) throw new BadCallback('no status of a message, and no message of a user')
  const optOut = OPT_OUT_TYPES.get(fields.get('OptOutType') ?? '')
  return [{ kind: 'message', id, from, user_id: null, text, ...(optOut && { optOut }) }]
}

/** Even the first statuses prove that Twilio accepted the message, which settles a call whose outcome is unknown. */
const STATUSES: ReadonlyMap<string, ReportedStatus> = new Map([
  ['accepted', 'sent'],
  ['scheduled', 'sent'],
  ['queued', 'sent'],
  ['sending', 'sent'],
  ['sent', 'sent'],
  // Twilio lists this status without a word on what it means. Some of the message arrived: it has not failed, and
  // another status may follow.
  ['partially_delivered', 'sent'],
  ['delivered', 'delivered'],
  ['read', 'delivered'],
  ['undelivered', 'failed'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])

interface SignedByTwilio {
  /** The address that Twilio was given. */
  url: URL
  fields: URLSearchParams
  auth_token: string
}

/** A byte order mark is kept, so that a body with one fails the check. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A status callback has a few hundred bytes. Sorting happens before the signature is checked, so its cost must be
 *  limited. */
const MAX_FORM_BYTES = 16_384

/** Twilio signs the decoded fields, not the bytes. Null when the body is too large. */
const fieldsOf = (body: Uint8Array): URLSearchParams | null =>
  body.length > MAX_FORM_BYTES ? null : new URLSearchParams(utf8.decode(body))

/** Base64 HMAC-SHA1 with the auth token, over the address and the form fields sorted by name.
 *  https://www.twilio.com/docs/usage/security#validating-requests (JSON bodies with `bodySHA256` are not used for
 *  messages.) */
function isSignedByTwilio(signature: string | undefined, { url, fields, auth_token }: SignedByTwilio): boolean {
  if (signature === undefined) return false
  const signedFields = sortedFields(fields)
  // Every variant is compared, so that the time does not tell which one matched.
  return urlVariants(url)
    .map(address =>
      isSameSecret(
        signature,
        createHmac('sha1', auth_token)
          .update(address + signedFields)
          .digest('base64'),
      ),
    )
    .includes(true)
}

/** Name and value of each field, sorted by name; a pair that occurs twice counts once, as in Twilio's libraries. */
function sortedFields(fields: URLSearchParams): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value))
  const pairs = [...values.keys()]
    .sort()
    .flatMap(name => [...(values.get(name) ?? [])].sort().map(value => name + value))
  return pairs.join('')
}

/** Some of Twilio's servers sign the address with its port, some without. Twilio's libraries try both, and so do we. */
function urlVariants(url: URL): string[] {
  const { protocol, host, hostname, port, pathname, search } = url
  const standard = protocol === 'https:' ? '443' : '80'
  const hosts = port === '' ? [host, `${hostname}:${standard}`] : [host, hostname]
  return hosts.map(variant => `${protocol}//${variant}${pathname}${search}`)
}
