// Simulates Vonage's Messages API by its OpenAPI file and documentation: what it checks, how it answers, how it signs.
import { Buffer } from 'node:buffer'
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, verify } from 'node:crypto'
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

interface VonageApplication {
  application_id: string
  signature_secret: string
  /** PEM, for the provider's config. The simulated vendor uses the public key. */
  private_key: string
}

interface VonageMessage {
  message_uuid: string
  /** The body of the request, parsed. */
  requestBody: Record<string, unknown>
}

interface Vonage extends Vendor<VonageMessage>, VonageApplication {}

interface VonageOptions extends VendorOptions {
  /** The clock of the signed times; must be that of the process that is called back. */
  now?(): number
}

/** Generating a key is slow, so all tests share one. */
let pair: { privateKey: KeyObject; publicKey: KeyObject } | undefined

export async function startVonage({ now = Date.now, ...options }: VonageOptions = {}): Promise<Vonage> {
  pair ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { privateKey, publicKey } = pair
  const application: VonageApplication = {
    application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
    signature_secret: 'the signature secret of a test account',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
  const running = await startVendor<VonageMessage>(
    {
      handleRequest(request) {
        const refusal = unauthorized(request, publicKey, application, now())
        if (refusal) return { answer: refusal }
        const requestBody = readObject(request)
        const answer = requestError(requestBody)
        if (answer || !requestBody) return { answer: answer ?? vonageError(422, '#invalid-json', 'Invalid JSON') }
        const message: VonageMessage = { message_uuid: randomUUID(), requestBody }
        return { message, answer: { status: 202, body: { message_uuid: message.message_uuid } } }
      },
      refused: () => vonageError(422, '/messages#1170', 'Invalid or Missing Msisdn Param'),
      busy: () => vonageError(429, '/messages#1010', 'Rate Limit Hit'),
      broken: status => vonageError(status, '/messages#1000', 'Internal error'),
      receipt: (message, receiptStatus) => vonageReceipt(message, VENDOR_STATUSES[receiptStatus], application, now()),
    },
    options,
  )
  return { ...running, ...application }
}

const VENDOR_STATUSES: Readonly<Record<ReceiptStatus, string>> = {
  sent: 'submitted',
  delivered: 'delivered',
  failed: 'rejected',
  read: 'read',
}

export const vonageError = (status: number, type: string, title: string): Answer => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: {
    type: `https://developer.vonage.com/api-errors${type}`,
    title,
    detail: 'The value of one or more parameters is invalid.',
    instance: randomUUID(),
  },
})

function unauthorized(
  { method, path, headers }: ReceivedRequest,
  publicKey: KeyObject,
  { application_id }: VonageApplication,
  now: number,
): Answer | null {
  if (method !== 'POST' || path !== '/v1/messages') return vonageError(404, '#not-found', 'Not found')
  const [head = '', payload = '', signature = ''] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.')
  const claims = readObject({ body: Buffer.from(payload, 'base64url') })
  const valid =
    readObject({ body: Buffer.from(head, 'base64url') })?.alg === 'RS256' &&
    verify('sha256', Buffer.from(`${head}.${payload}`), publicKey, Buffer.from(signature, 'base64url')) &&
    claims?.application_id === application_id &&
    typeof claims.jti === 'string' &&
    Number(claims.iat) <= now / 1000 + 5 &&
    Number(claims.exp) > now / 1000
  return valid ? null : vonageError(401, '#unauthorized', 'You did not provide correct credentials.')
}

function requestError(requestBody: Record<string, unknown> | null): Answer | null {
  if (!requestBody) return vonageError(422, '#invalid-json', 'The request body did not contain valid JSON')
  const {
    channel,
    message_type,
    to,
    from,
    text,
    client_ref = '',
    webhook_url = 'https://',
    webhook_version,
  } = requestBody
  if (channel !== 'sms') return vonageError(422, '/messages#1400', 'Unsupported channel')
  if (message_type !== 'text') return vonageError(422, '/messages#1440', 'Invalid message type')
  if (!/^\d{7,15}$/.test(String(to))) return vonageError(422, '/messages#1430', 'Invalid recipient')
  if (typeof from !== 'string' || !/^\w{1,15}$/.test(from)) return vonageError(422, '/messages#1420', 'Invalid sender')
  if (typeof text !== 'string' || text.length < 1 || text.length > 1000)
    return vonageError(422, '/messages#1150', 'Invalid params')
  if (typeof client_ref !== 'string' || client_ref.length > 40)
    return vonageError(422, '/messages#1450', 'Invalid client reference')
  if (!/^https?:\/\//.test(String(webhook_url)) || !['v0.1', 'v1', undefined].includes(webhook_version as string))
    return vonageError(422, '/messages#1150', 'Invalid params')
  return null
}

/** A receipt with a status in Vonage's own words. */
export function vonageReceipt(message: VonageMessage, status: string, application: VonageApplication, now: number) {
  const { requestBody, message_uuid } = message
  const { to, from, client_ref, webhook_url } = requestBody
  if (typeof webhook_url !== 'string') return null
  const timestamp = new Date(now).toISOString()
  return vonageCall(
    webhook_url,
    JSON.stringify({
      message_uuid,
      to,
      from,
      timestamp,
      status,
      channel: 'sms',
      client_ref,
      ...(status === 'rejected'
        ? { error: { type: 'https://developer.vonage.com/api-errors/messages#1260', title: 1260 } }
        : {}),
      usage: { currency: 'EUR', price: '0.0333' },
    }),
    application,
    { iat: Math.floor(now / 1000) },
  )
}

/** A callback with any body, signed as Vonage signs it; `claims` are added to the token's. */
export function vonageCall(
  url: string,
  body: string | Buffer,
  { application_id, signature_secret }: Pick<VonageApplication, 'application_id' | 'signature_secret'>,
  claims: Record<string, unknown>,
): VendorCallback {
  const payload_hash = createHash('sha256').update(body).digest('hex')
  const unsigned = [
    { typ: 'JWT', alg: 'HS256' },
    { jti: randomUUID(), iss: 'Vonage', payload_hash, api_key: 'abcd1234', application_id, ...claims },
  ]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = createHmac('sha256', signature_secret).update(unsigned).digest('base64url')
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${unsigned}.${signature}` }
  return { method: 'POST', url, headers, body }
}
