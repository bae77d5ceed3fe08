// Simulates an HTTP gateway of an app: accepts JSON that contains the delivery id, answers 2xx, and signs receipts like our own webhooks.
import { createHmac } from 'node:crypto'
import { type ReceiptStatus, startVendor, type Vendor, type VendorCallback, type VendorOptions } from './vendor.ts'

export interface GatewayMessage {
  delivery_id: string
  /** The body of the request, parsed. */
  requestBody: Record<string, unknown>
}

interface GatewayOptions extends VendorOptions {
  /** The `authorization` header that requests must have. Default: none. */
  authorization?: string
  secret?: string
  /** Where receipts are sent. Default: nowhere. */
  callbackUrl?(): string | null
  /** The clock of the signed times; must be that of the process that is called back. */
  now?(): number
}

export interface HttpGateway extends Vendor<GatewayMessage> {
  secret: string
}

export async function startHttpGateway({
  authorization,
  secret = 'the secret of a test gateway',
  callbackUrl = () => null,
  now = Date.now,
  ...options
}: GatewayOptions = {}): Promise<HttpGateway> {
  const running = await startVendor<GatewayMessage>(
    {
      handleRequest({ headers, body }) {
        if (headers.authorization !== authorization) return { answer: { status: 401 } }
        const requestBody: Record<string, unknown> = JSON.parse(body.toString())
        if (typeof requestBody.delivery_id !== 'string') return { answer: { status: 422 } }
        return {
          message: { delivery_id: requestBody.delivery_id, requestBody },
          answer: { status: 202, body: { queued: true } },
        }
      },
      refused: () => ({ status: 422, body: { error: 'no such recipient' } }),
      receipt({ delivery_id }, receiptStatus) {
        const url = callbackUrl()
        return url === null
          ? null
          : gatewayCall(url, JSON.stringify({ delivery_id, status: VENDOR_STATUSES[receiptStatus] }), secret, now())
      },
    },
    options,
  )
  return { ...running, secret }
}

const VENDOR_STATUSES: Readonly<Record<ReceiptStatus, string>> = {
  sent: 'sent',
  delivered: 'delivered',
  failed: 'failed',
  read: 'delivered',
}

/** A callback with any body, signed like our own webhooks. */
export function gatewayCall(url: string, body: string | Buffer, secret: string, at: number): VendorCallback {
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': signature,
  }
  return { method: 'POST', url, headers, body }
}
