// What the rows of the transition table do: change the data, reply, name effects. Nothing is performed here: effects and replies
// leave as data.
import { setup } from 'xstate'
import type { ErrorType } from './errors.ts'
import * as change from './otp.changes.ts'
import { guards, type Scope } from './otp.guards.ts'
import type { Delivery, Effect, EventOf, Otp, OtpEvent, OtpStart, OtpStatus, Reply } from './otp.ts'
import { fallbackMove, resendMove } from './resend.ts'
import { attemptsLeft, cooledAt } from './rules.ts'

export const otpSetup = setup({
  types: { context: {} as Otp, events: {} as OtpEvent, input: {} as OtpStart },
  guards,
  actions: {
    deliver: (_, _effect: Effect) => {},
    notify: (_, _effect: Effect) => {},
    refund: (_, _effect: Effect) => {},
    reply: (_, _reply: Reply) => {},
  },
})

const becomes = <T extends OtpEvent['type']>(rule: (otp: Otp, event: EventOf<T>) => Otp) =>
  otpSetup.assign(({ context, event }) => rule(context, event as EventOf<T>))

export const move = becomes<'otp.resend'>((otp, event) => {
  const move = resendMove(otp, event.usable, event.named)
  return move.kind === 'to' ? change.moved(otp, { ...event, ...move }) : otp
})
export const fallBack = becomes<'delivery.reported'>((otp, event) => {
  const channel = fallbackMove(otp, event.usable)
  return channel ? change.moved(otp, { ...event, channel, fresh: false }) : otp
})
export const spendSend = becomes<'otp.resend'>((otp, { at }) => change.resent(otp, at))
export const spendGuess = becomes<'otp.verify'>(change.guessedWrong)
export const approve = becomes<'otp.verify'>((otp, { by, at }) => change.approved(otp, by, at))
export const approveByMessage = becomes<'message.received'>((otp, { at }) => change.approved(otp, null, at))
export const answerWithCode = becomes<'message.received'>((otp, { delivery_id, at, prices }) =>
  change.answered(otp, delivery_id, at, prices),
)
export const exchange = becomes<'token.exchange'>((otp, { key_id, at }) => change.exchanged(otp, key_id, at))
export const record = becomes<'delivery.reported'>((otp, { reported_id, status, at }) =>
  change.reported(otp, reported_id, status, at),
)

const reply = (params: Reply | ((scope: Scope) => Reply)) => ({ type: 'reply' as const, params })
export const refuse = (error: ErrorType, otp_status?: OtpStatus) =>
  reply({ kind: 'refused', error, ...(otp_status === undefined ? {} : { otp_status }) })

export const accepted = reply({ kind: 'accepted' })
export const exchanged = reply({ kind: 'exchanged' })
export const noSuchToken = reply({ kind: 'no_such_token' })
export const noted = reply({ kind: 'noted', changed: true })
export const nothingNew = reply({ kind: 'noted', changed: false })
export const cooling = reply(({ context, event }) => ({
  kind: 'refused',
  error: 'ResendCooldownError',
  retry_after_ms: cooledAt(context) - event.at,
}))
export const lockedOut = reply(({ event }) => ({
  kind: 'refused',
  error: 'RateLimitExceededError',
  retry_after_ms: (event.type === 'otp.verify' && event.locked_ms) || 0,
}))
export const verified = (status: OtpStatus) =>
  reply(({ context, event }) => ({
    kind: 'verified',
    status,
    matched: status === 'approved',
    attempts_left: attemptsLeft(context),
    token: status === 'approved' && event.type === 'otp.verify' && event.by.kind === 'publishable',
  }))

const deliveryEffect = (otp: Otp): Effect => {
  const latest = otp.deliveries.at(-1) as Delivery
  return { type: 'deliver', id: latest.delivery_id, channel: latest.channel, generation: latest.generation }
}
export const deliverAnswer = { type: 'deliver' as const, params: ({ context }: Scope) => deliveryEffect(context) }
/** The delivery just made; a verification that waits on a link has none. */
export const deliver = otpSetup.enqueueActions(({ context, enqueue }) => {
  if (context.link === null) enqueue({ type: 'deliver', params: deliveryEffect(context) })
})

export const notifyOtp = (status: 'approved' | 'failed') => ({
  type: 'notify' as const,
  params: ({ context, event }: Scope): Effect => ({
    type: 'notify',
    id: 'event_id' in event ? event.event_id : '',
    event: `otp.${status}`,
    payload: { otp_id: context.otp_id, status },
  }),
})
/** `sent` is no event of the interface. */
export const notifyDelivery = otpSetup.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'delivery.reported' || event.status === 'sent') return
  const { event_id: id, reported_id: delivery_id, status } = event
  enqueue({
    type: 'notify',
    params: {
      type: 'notify',
      id,
      event: `delivery.${status}`,
      payload: { otp_id: context.otp_id, delivery_id, status },
    },
  })
})
/** What was paid for a delivery that failed is given back. A delivery fails once. */
export const refund = otpSetup.enqueueActions(({ context, event, enqueue }) => {
  if (event.type !== 'delivery.reported' || event.status !== 'failed') return
  const { reported_id: delivery_id } = event
  const micros = context.deliveries.find(one => one.delivery_id === delivery_id)?.micros ?? 0
  if (micros > 0)
    enqueue({ type: 'refund', params: { type: 'refund', id: `${delivery_id}:refund`, delivery_id, micros } })
})
