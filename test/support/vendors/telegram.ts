// The Telegram Gateway, simulated: what it checks, how it answers and how it signs its reports, by its documentation.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { type Answer, type Call, type Fate, type Seen, type Vendor, type VendorOptions, vendor } from './vendor.ts'

export interface TelegramMessage {
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

export interface TelegramOptions extends VendorOptions {
  token?: string
  /** What signed times are: the clock of whoever is called back. */
  now?(): number
}

export async function telegramVendor({
  token = 'AAGwTeLeGrAmToKeNoFaTeSt',
  now = Date.now,
  ...options
}: TelegramOptions = {}): Promise<Telegram> {
  const running = await vendor<TelegramMessage>(
    {
      take(seen) {
        const asked = readObject(seen)
        const error = complaint(seen, asked, token)
        if (error) return { answer: telegramError(error) }
        const message = { ...asked, request_id: randomBytes(8).toString('hex') } as TelegramMessage
        return { message, answer: { status: 200, body: { ok: true, result: requestStatus(message) } } }
      },
      refused: () => telegramError('PHONE_NUMBER_NOT_AVAILABLE'),
      receipt: (message, fate) => telegramReport(message, WORDS[fate], { token, now: now() }),
    },
    options,
  )
  return { ...running, token }
}

const WORDS: Readonly<Record<Fate, string>> = { sent: 'sent', delivered: 'delivered', failed: 'expired', read: 'read' }

/** Errors come as any other answer does. */
export const telegramError = (error: string, status = 200): Answer => ({ status, body: { ok: false, error } })

function readObject({ body }: Seen): Record<string, unknown> {
  try {
    return JSON.parse(body.toString())
  } catch {
    return {}
  }
}

function complaint({ path, headers }: Seen, asked: Record<string, unknown>, token: string): string | null {
  const { phone_number, code, ttl, payload = '', callback_url = '' } = asked
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
  ...{ request_id, phone_number, request_cost: 0.01, remaining_balance: 99.99 },
  ...(payload === undefined ? {} : { payload }),
  ...more,
})

/** A delivery report, in Telegram's own word. */
export function telegramReport(
  message: TelegramMessage,
  status: string,
  { token, now }: { token: string; now: number },
): Call | null {
  if (!message.callback_url) return null
  const updated_at = Math.floor(now / 1000)
  const body = JSON.stringify(requestStatus(message, { delivery_status: { status, updated_at } }))
  return { method: 'POST', url: message.callback_url, headers: telegramSigned(body, { token, now }), body }
}

export function telegramSigned(body: string | Uint8Array, { token, now }: { token: string; now: number }) {
  const timestamp = String(Math.floor(now / 1000))
  const key = createHash('sha256').update(token).digest()
  return {
    'content-type': 'application/json',
    'x-request-timestamp': timestamp,
    'x-request-signature': createHmac('sha256', key).update(`${timestamp}\n`).update(body).digest('hex'),
  }
}
