// Simulates Twilio's Programmable Messaging by its documentation: what it checks, how it answers, how it signs.
import { Buffer } from 'node:buffer'
import { createHmac, randomBytes } from 'node:crypto'
import {
  type Answer,
  type ReceiptStatus,
  type ReceivedRequest,
  startVendor,
  type Vendor,
  type VendorCallback,
  type VendorOptions,
} from './vendor.ts'

interface TwilioAccount {
  account_sid: string
  auth_token: string
}

export interface TwilioMessage {
  sid: string
  /** The fields of the request. */
  form: Record<string, string>
}

export interface Twilio extends Vendor<TwilioMessage>, TwilioAccount {}

export async function startTwilio({
  account_sid = `AC${'0123456789abcdef'.repeat(2)}`,
  auth_token = 'the auth token of a test',
  ...options
}: Partial<TwilioAccount> & VendorOptions = {}): Promise<Twilio> {
  const account = { account_sid, auth_token }
  const running = await startVendor<TwilioMessage>(
    {
      handleRequest(request) {
        const form = Object.fromEntries(new URLSearchParams(request.body.toString()))
        const answer = requestError(request, form, account)
        if (answer) return { answer }
        const message = { sid: `SM${randomBytes(16).toString('hex')}`, form }
        return { message, answer: { status: 201, body: resource(message, account) } }
      },
      refused: () => twilioError(400, 21614, "'To' number is not a valid mobile number"),
      busy: () => twilioError(429, 20429, 'Too many requests'),
      broken: status => twilioError(status, 20500, 'Internal Server Error'),
      receipt: (message, receiptStatus) => twilioReceipt(message, VENDOR_STATUSES[receiptStatus], account),
    },
    options,
  )
  return { ...running, ...account }
}

const VENDOR_STATUSES: Readonly<Record<ReceiptStatus, string>> = {
  sent: 'sent',
  delivered: 'delivered',
  failed: 'undelivered',
  read: 'read',
}

export const twilioError = (status: number, code: number, message: string): Answer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
})

function requestError(
  { method, path, headers }: ReceivedRequest,
  form: Record<string, string>,
  account: TwilioAccount,
) {
  const { account_sid, auth_token } = account
  if (method !== 'POST' || path !== `/2010-04-01/Accounts/${account_sid}/Messages.json`)
    return twilioError(404, 20404, `The requested resource ${path} was not found`)
  if (headers.authorization !== `Basic ${Buffer.from(`${account_sid}:${auth_token}`).toString('base64')}`)
    return twilioError(401, 20003, 'Authenticate')
  if (!/^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? ''))
    return twilioError(415, 20415, 'Unsupported media type')
  const { To, From, MessagingServiceSid, Body, StatusCallback, ValidityPeriod = '36000' } = form
  if (!To) return twilioError(400, 21604, "A 'To' phone number is required.")
  if (!From && !MessagingServiceSid) return twilioError(400, 21603, "A 'From' phone number is required.")
  if (!Body) return twilioError(400, 21602, 'Message body is required.')
  if (!/^\+[1-9]\d{6,14}$/.test(To))
    return twilioError(400, 21211, `The 'To' number ${To} is not a valid phone number.`)
  if (Body.length > 1600)
    return twilioError(400, 21617, 'The concatenated message body exceeds the 1600 character limit.')
  if (StatusCallback !== undefined && !/^https?:\/\/[^_/]+\//.test(StatusCallback))
    return twilioError(400, 21609, `The 'StatusCallback' URL ${StatusCallback} is not a valid URL.`)
  if (!/^\d+$/.test(ValidityPeriod) || Number(ValidityPeriod) < 1 || Number(ValidityPeriod) > 36_000)
    return twilioError(400, 20001, 'ValidityPeriod is not valid.')
  return null
}

const resource = ({ sid, form }: TwilioMessage, { account_sid }: TwilioAccount) => ({
  sid,
  account_sid,
  api_version: '2010-04-01',
  direction: 'outbound-api',
  to: form.To,
  from: form.From ?? null,
  messaging_service_sid: form.MessagingServiceSid ?? null,
  body: form.Body,
  status: form.MessagingServiceSid ? 'accepted' : 'queued',
  error_code: null,
  error_message: null,
  num_media: '0',
  num_segments: '1',
  price: null,
  price_unit: 'USD',
  date_created: new Date().toUTCString(),
  date_updated: new Date().toUTCString(),
  date_sent: null,
  uri: `/2010-04-01/Accounts/${account_sid}/Messages/${sid}.json`,
})

/** A status callback with a status in Twilio's own words. */
export function twilioReceipt(
  { sid, form }: TwilioMessage,
  status: string,
  account: TwilioAccount,
): VendorCallback | null {
  const { StatusCallback, To = '', From = '' } = form
  if (!StatusCallback) return null
  const fields: Record<string, string> = {
    SmsSid: sid,
    SmsStatus: status,
    MessageStatus: status,
    To,
    MessageSid: sid,
    AccountSid: account.account_sid,
    From,
    ApiVersion: '2010-04-01',
    ...(status === 'undelivered' ? { ErrorCode: '30003' } : {}),
  }
  return {
    method: 'POST',
    url: StatusCallback,
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': twilioSignature(account.auth_token, StatusCallback, fields),
    },
    body: new URLSearchParams(fields).toString(),
  }
}

/** Signs the address, followed by every field's name and value in the order of the names. */
export const twilioSignature = (token: string, url: string, fields: Record<string, string>): string =>
  createHmac('sha1', token)
    .update(
      Object.keys(fields)
        .sort()
        .reduce((text, name) => `${text}${name}${fields[name]}`, url),
    )
    .digest('base64')
