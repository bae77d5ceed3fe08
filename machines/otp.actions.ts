// The actions of the transition table: they change the verification, reply, and name effects. Nothing is performed here: replies and
// effects leave the machine as data.
import { setup } from 'xstate'
import type { ErrorType } from './errors.ts'
import * as change from './otp.changes.ts'
import { guards, type TransitionArgs } from './otp.guards.ts'
import { idOf, openIds } from './otp.ids.ts'
import { attemptsLeft, carriesCode, isMessage } from './otp.queries.ts'
import type { Delivery, Effect, EventOf, NotAllowedCause, Otp, OtpEvent, OtpStart, OtpStatus, Reply } from './otp.ts'
import { cooldownEndsAt, fallbackChannel, resendTarget } from './resend.ts'
import { deliveryEvent, type OtpEnd, otpEvent } from './webhook-events.ts'

export const otpSetup = setup({
  types: { context: {} as Otp, events: {} as OtpEvent, input: {} as OtpStart },
  guards,
  actions: {
    // Null: the row names the effect, and this event does not need it.
    deliver: (_, _effect: Effect | null) => {},
    notify: (_, _effects: Effect | Effect[] | null) => {},
    refund: (_, _effect: Effect | null) => {},
    recharge: (_, _effect: Effect | null) => {},
    remember: () => {},
    reply: (_, _reply: Reply) => {},
  },
})

const assignWith = <T extends OtpEvent['type']>(rule: (otp: Otp, event: EventOf<T>) => Otp) =>
  otpSetup.assign(({ context, event }) => rule(context, event as EventOf<T>))

/** Only a send that joins brings what this needs. */
export const join = assignWith<'otp.resend'>((otp, { otp_id, joins, at }) =>
  otp_id === undefined || joins === undefined ? otp : change.join(otp, otp_id, joins, at),
)
type EndingEvent = 'otp.cancel' | 'otp.lapse'

/** A cancel ends one id, its time or a person of the company all that are open. */
const endingIds = (otp: Otp, event: EventOf<EndingEvent>): string[] =>
  event.type === 'otp.lapse' || event.all ? openIds(otp) : [event.otp_id ?? otp.otp_id]

export const moveChannel = assignWith<'otp.resend'>((otp, event) => {
  const target = resendTarget(otp, event.usable, event.requestedChannel)
  return target.kind === 'to' ? change.moveChannel(otp, { ...event, ...target }) : otp
})
export const fallBack = assignWith<'delivery.reported'>((otp, event) => {
  const channel = fallbackChannel(otp, event.usable)
  return channel
    ? change.moveChannel(otp, { ...event, channel, newGeneration: false, otp_id: askerOf(otp, event) })
    : otp
})
/** A fallback is told to the id that is told of the failure. */
const askerOf = (otp: Otp, { delivery_id }: EventOf<'delivery.reported'>): string =>
  idOf(otp, otp.deliveries.find(one => one.delivery_id === delivery_id) ?? {})
export const countSend = assignWith<'otp.resend'>((otp, { at }) => change.countSend(otp, at))
export const countWrongCode = assignWith<'otp.verify'>((otp, { at, otp_id }) => change.countWrongCode(otp, at, otp_id))
export const fail = assignWith<'otp.verify'>((otp, { at, otp_id }) => change.fail(otp, at, otp_id))
export const end = assignWith<EndingEvent>((otp, event) =>
  change.end(otp, endingIds(otp, event), event.at, {
    canceled: event.type === 'otp.cancel',
    isAskedFor: event.event_ids !== undefined,
  }),
)
export const approve = assignWith<'otp.verify'>((otp, { by, at, otp_id }) => change.approveByCode(otp, by, at, otp_id))
export const approveByMessage = assignWith<'message.received'>((otp, { at }) => change.approveByMessage(otp, at))
export const answerWithCode = assignWith<'message.received'>((otp, { new_delivery_id, at, prices }) =>
  change.addAnswer(otp, new_delivery_id, at, prices),
)
export const askForContact = assignWith<'message.received'>((otp, { new_delivery_id, at, prices, writer }) =>
  writer === undefined ? otp : change.addContactRequest(otp, new_delivery_id, at, prices, writer),
)
export const exchange = assignWith<'token.exchange'>((otp, { key_id, at }) => change.recordExchange(otp, key_id, at))
export const recordReport = assignWith<'delivery.reported'>(change.recordReport)
export const recordLateReceipt = assignWith<'delivery.reported'>(change.recordLateReceipt)
export const eraseGivenCode = otpSetup.assign(({ context }) => change.eraseGivenCode(context))
export const addUnpaidFallback = assignWith<'delivery.reported'>((otp, event) => {
  const channel = fallbackChannel(otp, event.usable)
  return channel ? change.addUnpaid(otp, { ...event, channel, otp_id: askerOf(otp, event) }) : otp
})
export const addUnpaidAnswer = assignWith<'message.received'>((otp, { new_delivery_id, at }) =>
  change.addUnpaid(otp, { new_delivery_id, channel: otp.channel, at, otp_id: idOf(otp, otp.link ?? {}) }),
)

/** Has the command and its reply saved, although the verification stays as it is. */
export const remember = { type: 'remember' as const }

const reply = (params: Reply | ((scope: TransitionArgs) => Reply)) => ({ type: 'reply' as const, params })
export const refuse = (error: ErrorType, members: { cause?: NotAllowedCause; otp_status?: OtpStatus } = {}) =>
  reply({ kind: 'refused', error, ...members })

export const replyAccepted = reply({ kind: 'accepted' })
export const replyResent = reply(({ event }) =>
  event.type === 'otp.resend' && event.joins !== undefined && event.otp_id !== undefined
    ? { kind: 'accepted', otp_id: event.otp_id }
    : { kind: 'accepted' },
)
export const replyExchanged = reply({ kind: 'exchanged' })
export const replyNoSuchToken = reply({ kind: 'no_such_token' })
export const replyNoted = reply({ kind: 'noted', changed: true })
export const replyNothingNew = reply({ kind: 'noted', changed: false })
export const refuseCooldown = reply(({ context, event }) => ({
  kind: 'refused',
  error: 'ResendCooldownError',
  retry_after_ms: cooldownEndsAt(context) - event.at,
}))
/** The cause is the obstacle of the channel that was named; without a name, no channel is left. */
export const refuseChannel = reply(({ event }) => {
  const refused = { kind: 'refused' as const, error: 'ResendNotAllowedError' as const }
  if (event.type !== 'otp.resend' || event.requestedChannel === null || event.obstacle === null)
    return { ...refused, cause: 'no_usable_channel' }
  return { ...refused, cause: `channel_${event.obstacle}`, channel: event.requestedChannel }
})
export const refuseLocked = reply(({ event }) => ({
  kind: 'refused',
  error: 'RateLimitExceededError',
  retry_after_ms: (event.type === 'otp.verify' && event.locked_ms) || 0,
}))
export const replyVerified = (status: OtpStatus) =>
  reply(({ context, event }) => ({
    kind: 'verified',
    status,
    matched: status === 'approved',
    attempts_left: attemptsLeft(context, event.type === 'otp.verify' ? event.otp_id : undefined),
    token: status === 'approved' && event.type === 'otp.verify' && event.by.kind === 'publishable',
  }))

const latestDelivery = (otp: Otp): Effect => {
  const latest = otp.deliveries.at(-1) as Delivery
  return { type: 'deliver', id: latest.delivery_id, channel: latest.channel, generation: latest.generation }
}
const effect = <T extends Effect['type']>(type: T, params: (scope: TransitionArgs) => Effect | null) => ({
  type,
  params,
})

export const deliverAnswer = effect('deliver', ({ context }) => latestDelivery(context))
/** Delivers the code on the channel just chosen. A verification that waits on a link has nothing to deliver yet. */
export const deliver = effect('deliver', ({ context }) => (context.link === null ? latestDelivery(context) : null))

export const notifyOtp = (status: 'approved' | 'failed') =>
  effect('notify', ({ context, event }) => {
    if (event.type !== 'otp.verify' && event.type !== 'message.received') return null
    // A message approves the id that asked for its link.
    const asker = event.type === 'otp.verify' ? event.otp_id : context.link?.asked_as
    return { type: 'notify', id: event.event_id, ...otpEvent(asker ?? context.otp_id, status) }
  })
/** Before the ids are marked as ended. No endpoint is told that does not ask for it. */
export const notifyEnded = (status: OtpEnd) => ({
  type: 'notify' as const,
  params: ({ context, event }: TransitionArgs): Effect[] => {
    if (event.type !== 'otp.cancel' && event.type !== 'otp.lapse') return []
    return endingIds(context, event).flatMap(otp_id => {
      const id = event.event_ids?.[otp_id]
      return id === undefined ? [] : [{ type: 'notify', id, ...otpEvent(otp_id, status) } as Effect]
    })
  },
})
export const notifyDelivery = effect('notify', ({ context, event }) => {
  if (event.type !== 'delivery.reported' || event.status === 'sent') return null
  const { event_id: id, delivery_id, status } = event
  // Events tell of messages with a code.
  if (context.deliveries.some(one => one.delivery_id === delivery_id && !carriesCode(one))) return null
  return { type: 'notify', id, ...deliveryEvent(askerOf(context, event), delivery_id, status, isMessage(context)) }
})
/** The delivery that was just recorded as unpaid has failed like any other. */
export const notifyUnpaid = effect('notify', ({ context, event }) => {
  const id = 'unpaid' in event ? event.unpaid?.event_id : undefined
  if (id === undefined) return null
  const unpaid = context.deliveries.at(-1) as Delivery
  const otp_id = idOf(context, unpaid)
  return { type: 'notify', id, ...deliveryEvent(otp_id, unpaid.delivery_id, 'failed', isMessage(context)) }
})
/** Gives back what was paid for a delivery that failed, unless its price is kept. This happens once, because a delivery can fail only
 *  once. */
export const refund = effect('refund', ({ context, event }) => {
  if (event.type !== 'delivery.reported' || event.status !== 'failed') return null
  const { delivery_id } = event
  const failed = context.deliveries.find(one => one.delivery_id === delivery_id)
  if (!failed?.micros || failed.charge !== undefined) return null
  return { type: 'refund', id: `${delivery_id}:refund`, delivery_id, micros: failed.micros }
})
const chargeAgain = ({ delivery_id, micros }: Delivery): Effect => ({
  type: 'recharge',
  id: `${delivery_id}:recharge`,
  delivery_id,
  micros,
})
/** Charges again what the approval has just marked. This happens once, because a verification is approved only once. */
export const rechargeApproved = effect('recharge', ({ context }) => {
  const again = context.deliveries.find(
    ({ charge, late_receipt_at }) => charge === 'again' && late_receipt_at === undefined,
  )
  return again === undefined ? null : chargeAgain(again)
})
/** Charges again the refunded message of a late receipt, of which only the first counts. */
export const rechargeArrived = effect('recharge', ({ context, event }) => {
  const id = event.type === 'delivery.reported' ? event.delivery_id : null
  const arrived = context.deliveries.find(({ delivery_id }) => delivery_id === id)
  return arrived === undefined ? null : chargeAgain(arrived)
})

/** The receipt of a message that had failed says that it arrived. Its status stays, because backends have been told. */
export const lateReceipts = [
  { guard: 'arrivedAfterRefund' as const, actions: [recordLateReceipt, rechargeArrived, replyNoted] },
  { guard: 'arrivedAfterFailure' as const, actions: [recordLateReceipt, replyNoted] },
]
