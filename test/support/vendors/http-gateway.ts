// A gateway of the app's own, simulated: takes JSON with the delivery's id in it, answers 2xx, and signs its receipts as our webhooks
// are signed.
import { createHmac } from 'node:crypto'
import { type ReceiptStatus, startVendor, type Vendor, type VendorCallback, type VendorOptions } from './vendor.ts'

export interface GatewayMessage {
  delivery_id: string
  /** The body as it came. */
  requestBody: Record<string, unknown>
}

export interface GatewayOptions extends VendorOptions {
  /** What the gateway asks for in `authorization`; nothing unless told. */
  authorization?: string
  secret?: string
  /** Where it was told to send receipts. */
  callbackUrl?(): string | null
  /** What signed times are: the clock of whoever is called back. */
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
      take({ headers, body }) {
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

/** Anything, signed by the scheme of the interface (§6.3). */
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
