// The webhook events of a verification: their types, and the payload that the app's backend receives with each. Every value of a payload
// is text. To add an event type or a payload field, start here, and add it to the table in docs/webhooks.md. When an event happens is
// decided in otp.machine.ts.

export type WebhookEvent =
  | { event: 'otp.approved'; payload: { otp_id: string; status: 'approved' } }
  | { event: 'otp.failed'; payload: { otp_id: string; status: 'failed' } }
  | { event: 'delivery.delivered'; payload: { otp_id: string; delivery_id: string; status: 'delivered' } }
  | { event: 'delivery.failed'; payload: { otp_id: string; delivery_id: string; status: 'failed' } }

export type WebhookEventType = WebhookEvent['event']

/** The verification has ended by a right code or message, or by the last wrong code. Expiry and cancellation are no events. */
export const otpEvent = (otp_id: string, status: 'approved' | 'failed'): WebhookEvent =>
  status === 'approved'
    ? { event: 'otp.approved', payload: { otp_id, status } }
    : { event: 'otp.failed', payload: { otp_id, status } }

/** A provider has reported how a delivery ended. That a message was sent is no event. */
export const deliveryEvent = (otp_id: string, delivery_id: string, status: 'delivered' | 'failed'): WebhookEvent =>
  status === 'delivered'
    ? { event: 'delivery.delivered', payload: { otp_id, delivery_id, status } }
    : { event: 'delivery.failed', payload: { otp_id, delivery_id, status } }
