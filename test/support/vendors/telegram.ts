// Simulates the Telegram Gateway by its documentation: what it checks, how it answers, how it signs its receipts.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import {
  type Answer,
  type ReceiptStatus,
  type ReceivedRequest,
  readObject,
  startVendor,
  type Vendor,
  type VendorCallback,
  type VendorOptions,
} from './vendor.ts'

interface TelegramMessage {
  request_id: string
  phone_number: string
  code: string
  ttl: number
  payload: string | undefined
  callback_url: string | undefined
}

export interface Telegram extends Vendor<TelegramMessage> {
  token: string
}

interface TelegramOptions extends VendorOptions {
  token?: string
  /** The clock of the signed times; must be that of the process that is called back. */
  now?(): number
}

export async function startTelegram({
  token = 'AAGwTeLeGrAmToKeNoFaTeSt',
  now = Date.now,
  ...options
}: TelegramOptions = {}): Promise<Telegram> {
  const running = await startVendor<TelegramMessage>(
    {
      handleRequest(request) {
        const requestBody = readObject(request) ?? {}
        const error = requestError(request, requestBody, token)
        if (error) return { answer: telegramError(error) }
        const message = { ...requestBody, request_id: randomBytes(8).toString('hex') } as TelegramMessage
        return { message, answer: { status: 200, body: { ok: true, result: requestStatus(message) } } }
      },
      refused: () => telegramError('PHONE_NUMBER_NOT_AVAILABLE'),
      receipt: (message, receiptStatus) =>
        telegramReceipt(message, VENDOR_STATUSES[receiptStatus], { token, now: now() }),
    },
    options,
  )
  return { ...running, token }
}

const VENDOR_STATUSES: Readonly<Record<ReceiptStatus, string>> = {
  sent: 'sent',
  delivered: 'delivered',
  failed: 'expired',
  read: 'read',
}

/** Telegram answers errors with 200 too. */
export const telegramError = (error: string, status = 200): Answer => ({ status, body: { ok: false, error } })

function requestError(
  { path, headers }: ReceivedRequest,
  requestBody: Record<string, unknown>,
  token: string,
): string | null {
  const { phone_number, code, ttl, payload = '', callback_url = '' } = requestBody
  if (path.toLowerCase() !== '/sendverificationmessage') return 'UNKNOWN_METHOD'
  if (headers.authorization === undefined) return 'ACCESS_TOKEN_REQUIRED'
  if (headers.authorization !== `Bearer ${token}`) return 'ACCESS_TOKEN_INVALID'
  if (!/^\+[1-9]\d{6,14}$/.test(String(phone_number))) return 'PHONE_NUMBER_INVALID'
  if (!/^\d{4,8}$/.test(String(code))) return 'CODE_INVALID'
  if (!Number.isInteger(ttl) || Number(ttl) < 30 || Number(ttl) > 3600) return 'TTL_INVALID'
  if (String(payload).length > 128) return 'PAYLOAD_INVALID'
  if (callback_url !== '' && !/^https:\/\/.{1,248}$/.test(String(callback_url))) return 'CALLBACK_URL_INVALID'
  return null
}

const requestStatus = ({ request_id, phone_number, payload }: TelegramMessage, more: object = {}) => ({
  request_id,
  phone_number,
  request_cost: 0.01,
  remaining_balance: 99.99,
  ...(payload === undefined ? {} : { payload }),
  ...more,
})

/** A receipt with a status in Telegram's own words. */
export function telegramReceipt(
  message: TelegramMessage,
  status: string,
  { token, now }: { token: string; now: number },
): VendorCallback | null {
  if (!message.callback_url) return null
  const updated_at = Math.floor(now / 1000)
  const body = JSON.stringify(requestStatus(message, { delivery_status: { status, updated_at } }))
  return { method: 'POST', url: message.callback_url, headers: telegramSignatureHeaders(body, { token, now }), body }
}

export function telegramSignatureHeaders(body: string | Uint8Array, { token, now }: { token: string; now: number }) {
  const timestamp = String(Math.floor(now / 1000))
  const key = createHash('sha256').update(token).digest()
  return {
    'content-type': 'application/json',
    'x-request-timestamp': timestamp,
    'x-request-signature': createHmac('sha256', key).update(`${timestamp}\n`).update(body).digest('hex'),
  }
}
