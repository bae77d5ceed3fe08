// The webhook events of a verification: their types, and the payload that the app's backend receives with each. Every
// value of a payload is text, and a member that an event does not have is absent. To add an event type or a payload
// field, start here, and add it to the table in docs/webhooks.md. When an event happens is decided in otp.machine.ts.

/** How a verification ends. */
export type OtpEnd = 'approved' | 'failed' | 'expired' | 'canceled'
type DeliveryEnd = 'delivered' | 'failed'

type OtpWebhookEvent = { [S in OtpEnd]: { event: `otp.${S}`; payload: { otp_id: string; status: S } } }[OtpEnd]
type DeliveryWebhookEvent = {
  [S in DeliveryEnd]: {
    event: `delivery.${S}`
    /** `message_id`: of a message, the same as its `otp_id`. */
    payload: { otp_id: string; message_id?: string; delivery_id: string; status: S }
  }
}[DeliveryEnd]

export type WebhookEvent = OtpWebhookEvent | DeliveryWebhookEvent

/** What an endpoint gets that names no events. */
export const DEFAULT_EVENTS = ['otp.approved', 'otp.failed', 'delivery.delivered', 'delivery.failed'] as const

/** About the deployment and not about a verification. */
export const OPS_EVENTS = [
  'ops.balance_low',
  'ops.endpoint_paused',
  'ops.provider_open',
  'ops.provider_silent',
  'ops.retention_shortened',
] as const

/** All that an endpoint can ask for. */
export const WEBHOOK_EVENT_TYPES = [...DEFAULT_EVENTS, 'otp.expired', 'otp.canceled', ...OPS_EVENTS] as const

export type OpsEventType = (typeof OPS_EVENTS)[number]
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number]

/** The verification has ended: by a right code or message, by the last wrong code, by its time, or by the caller. */
export const otpEvent = <S extends OtpEnd>(otp_id: string, status: S) =>
  ({ event: `otp.${status}`, payload: { otp_id, status } }) as Extract<WebhookEvent, { event: `otp.${S}` }>

/** A provider has reported how a delivery ended. That a message was sent is no event. */
export function deliveryEvent<S extends DeliveryEnd>(
  otp_id: string,
  delivery_id: string,
  status: S,
  isMessage: boolean,
): Extract<WebhookEvent, { event: `delivery.${S}` }> {
  const message = isMessage ? { message_id: otp_id } : {}
  return { event: `delivery.${status}`, payload: { otp_id, ...message, delivery_id, status } } as Extract<
    WebhookEvent,
    { event: `delivery.${S}` }
  >
}
