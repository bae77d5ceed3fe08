// The life of a verification: pending → approved | failed | expired | canceled. Every rule of the interface's transition table is a
// row here; the first row whose guard holds answers. Flat and pure: effects are named, not performed, and deadlines are compared
// with the time that came with the event.
import { setup } from 'xstate'
import type { ErrorType } from './errors.ts'
import * as change from './otp.changes.ts'
import type { Delivery, Effect, Otp, OtpEvent, OtpStart, OtpStatus, Reply } from './otp.ts'
import { fallbackMove, resendMove } from './resend.ts'
import { attemptsLeft, completionOf, cooledAt, isExchangeable, isLapsed, sendsLeft } from './rules.ts'

interface Scope {
  context: Otp
  event: OtpEvent
}
type Of<T extends OtpEvent['type']> = Extract<OtpEvent, { type: T }>

/** A rule is written for one kind of event, and the table below names it only under that kind. */
const when =
  <T extends OtpEvent['type']>(rule: (otp: Otp, event: Of<T>) => boolean) =>
  ({ context, event }: Scope): boolean =>
    rule(context, event as Of<T>)

const rules = setup({
  types: { context: {} as Otp, events: {} as OtpEvent, input: {} as OtpStart },
  guards: {
    lapsed: ({ context, event }) => isLapsed(context, event.at),
    // What a device started is proved by exchange only; else anyone could hand a backend a verification of his own.
    provedByExchangeOnly: when<'otp.verify'>(
      (otp, { by }) => by.kind === 'server' && otp.started_by.kind === 'publishable',
    ),
    approvedByMessageOnly: ({ context }) => completionOf(context) === 'inbound',
    locked: when<'otp.verify'>((_, { locked_ms }) => locked_ms !== null),
    right: when<'otp.verify'>((_, { right }) => right),
    lastGuess: ({ context }) => attemptsLeft(context) <= 1,
    retriesApproval: when<'otp.verify'>((otp, event) => event.right && mayAskAgain(otp, event.by.key_id)),
    guessesAfterApproval: when<'otp.verify'>((otp, event) => !event.right && mayAskAgain(otp, event.by.key_id)),
    sendsSpent: ({ context }) => sendsLeft(context) === 0,
    cooling: ({ context, event }) => event.at < cooledAt(context),
    nowhereToGo: when<'otp.resend'>((otp, { usable, named }) => resendMove(otp, usable, named).kind === 'impossible'),
    sameLink: when<'otp.resend'>((otp, { usable, named }) => resendMove(otp, usable, named).kind === 'same_link'),
    exchangeable: when<'token.exchange'>((otp, { key_id, genuine, at }) => genuine && isExchangeable(otp, key_id, at)),
    news: when<'delivery.reported'>((otp, { reported_id, status }) => isNews(otp, reported_id, status)),
    fallsBack: when<'delivery.reported'>((otp, event) => fallsBack(otp, event)),
    approves: when<'message.received'>((otp, event) => speaksToLink(otp, event) && otp.whatsapp === 'link_inbound'),
    asksForCode: when<'message.received'>(
      (otp, event) =>
        speaksToLink(otp, event) && otp.whatsapp === 'link_code' && (!change.hasAnswer(otp) || sendsLeft(otp) > 0),
    ),
  },
  actions: {
    // These three leave as data: nobody performs them here.
    deliver: (_, _effect: Effect) => {},
    notify: (_, _effect: Effect) => {},
    reply: (_, _reply: Reply) => {},
  },
})

const mayAskAgain = (otp: Otp, key_id: string): boolean => otp.approval?.by?.key_id === key_id && attemptsLeft(otp) > 0

const deliveryOf = (otp: Otp, id: string): Delivery | undefined => otp.deliveries.find(one => one.delivery_id === id)

const isNews = (otp: Otp, id: string, status: Delivery['status']): boolean =>
  change.advances(deliveryOf(otp, id), status)

const fallsBack = (otp: Otp, { reported_id, status, usable, at }: Of<'delivery.reported'>): boolean =>
  otp.rules.auto_fallback &&
  status === 'failed' &&
  isNews(otp, reported_id, status) &&
  otp.deliveries.at(-1)?.delivery_id === reported_id &&
  deliveryOf(otp, reported_id)?.generation === otp.generation &&
  !isLapsed(otp, at) &&
  sendsLeft(otp) > 0 &&
  fallbackMove(otp, usable) !== undefined

const speaksToLink = (otp: Otp, { reference, at }: Of<'message.received'>): boolean =>
  otp.link?.reference === reference && !isLapsed(otp, at)

// What the rows below do: changes of the data, replies, effects.

const becomes = <T extends OtpEvent['type']>(rule: (otp: Otp, event: Of<T>) => Otp) =>
  rules.assign(({ context, event }) => rule(context, event as Of<T>))

const move = becomes<'otp.resend'>((otp, event) => {
  const move = resendMove(otp, event.usable, event.named)
  return move.kind === 'to' ? change.moved(otp, { ...event, ...move }) : otp
})
const fallBack = becomes<'delivery.reported'>((otp, event) => {
  const channel = fallbackMove(otp, event.usable)
  return channel ? change.moved(otp, { ...event, channel, fresh: false }) : otp
})
const spendSend = becomes<'otp.resend'>((otp, { at }) => change.resent(otp, at))
const spendGuess = becomes<'otp.verify'>(change.guessedWrong)
const approve = becomes<'otp.verify'>((otp, { by, at }) => change.approved(otp, by, at))
const approveByMessage = becomes<'message.received'>((otp, { at }) => change.approved(otp, null, at))
const answerWithCode = becomes<'message.received'>((otp, { delivery_id, at }) => change.answered(otp, delivery_id, at))
const exchange = becomes<'token.exchange'>((otp, { key_id, at }) => change.exchanged(otp, key_id, at))
const record = becomes<'delivery.reported'>((otp, { reported_id, status, at }) =>
  change.reported(otp, reported_id, status, at),
)

const reply = (params: Reply | ((scope: Scope) => Reply)) => ({ type: 'reply' as const, params })
const refuse = (error: ErrorType, otp_status?: OtpStatus) =>
  reply({ kind: 'refused', error, ...(otp_status === undefined ? {} : { otp_status }) })

const accepted = reply({ kind: 'accepted' })
const exchanged = reply({ kind: 'exchanged' })
const noSuchToken = reply({ kind: 'no_such_token' })
const noted = reply({ kind: 'noted', changed: true })
const nothingNew = reply({ kind: 'noted', changed: false })
const cooling = reply(({ context, event }) => ({
  kind: 'refused',
  error: 'ResendCooldownError',
  retry_after_ms: cooledAt(context) - event.at,
}))
const lockedOut = reply(({ event }) => ({
  kind: 'refused',
  error: 'RateLimitExceededError',
  retry_after_ms: (event.type === 'otp.verify' && event.locked_ms) || 0,
}))
const verified = (status: OtpStatus) =>
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
const deliverAnswer = { type: 'deliver' as const, params: ({ context }: Scope) => deliveryEffect(context) }
/** The delivery just made; a verification that waits on a link has none. */
const deliver = rules.enqueueActions(({ context, enqueue }) => {
  if (context.link === null) enqueue({ type: 'deliver', params: deliveryEffect(context) })
})

const notifyOtp = (status: 'approved' | 'failed') => ({
  type: 'notify' as const,
  params: ({ context, event }: Scope): Effect => ({
    type: 'notify',
    id: 'event_id' in event ? event.event_id : '',
    event: `otp.${status}`,
    payload: { otp_id: context.otp_id, status },
  }),
})
/** `sent` is no event of the interface. */
const notifyDelivery = rules.enqueueActions(({ context, event, enqueue }) => {
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

const onlyByExchange = { guard: 'provedByExchangeOnly' as const, actions: refuse('VerifyNotAllowedError') }
const notPending = (status: OtpStatus) => ({
  'otp.verify': [onlyByExchange, { actions: refuse('OtpNotPendingError', status) }],
  'otp.cancel': { actions: refuse('OtpNotPendingError', status) },
})

export const otpMachine = rules.createMachine({
  id: 'otp',
  context: ({ input }) => change.begun(input),
  initial: 'pending',
  // What holds in every state that does not say otherwise.
  on: {
    'delivery.reported': [{ guard: 'news', actions: [record, notifyDelivery, noted] }, { actions: nothingNew }],
    'message.received': { actions: nothingNew },
    'token.exchange': { actions: noSuchToken },
    'otp.resend': { actions: refuse('ResendNotAllowedError') },
    'otp.lapse': { actions: nothingNew },
  },
  states: {
    pending: {
      entry: [deliver, accepted],
      on: {
        'otp.resend': [
          { guard: 'lapsed', actions: refuse('ResendNotAllowedError') },
          { guard: 'sendsSpent', actions: refuse('ResendNotAllowedError') },
          { guard: 'cooling', actions: cooling },
          { guard: 'nowhereToGo', actions: refuse('ResendNotAllowedError') },
          { guard: 'sameLink', actions: [spendSend, accepted] },
          { actions: [move, deliver, accepted] },
        ],
        'otp.verify': [
          onlyByExchange,
          { guard: 'lapsed', actions: refuse('OtpExpiredError') },
          { guard: 'approvedByMessageOnly', actions: refuse('VerifyNotAllowedError') },
          { guard: 'locked', actions: lockedOut },
          { guard: 'right', target: 'approved', actions: [approve, notifyOtp('approved'), verified('approved')] },
          { guard: 'lastGuess', target: 'failed', actions: [spendGuess, notifyOtp('failed'), verified('failed')] },
          { actions: [spendGuess, verified('pending')] },
        ],
        'otp.cancel': [
          { guard: 'lapsed', actions: refuse('OtpExpiredError') },
          { target: 'canceled', actions: accepted },
        ],
        'otp.lapse': [{ guard: 'lapsed', target: 'expired', actions: noted }, { actions: nothingNew }],
        'delivery.reported': [
          { guard: 'fallsBack', actions: [record, notifyDelivery, fallBack, deliver, noted] },
          { guard: 'news', actions: [record, notifyDelivery, noted] },
          { actions: nothingNew },
        ],
        'message.received': [
          { guard: 'approves', target: 'approved', actions: [approveByMessage, notifyOtp('approved'), noted] },
          { guard: 'asksForCode', actions: [answerWithCode, deliverAnswer, noted] },
          { actions: nothingNew },
        ],
      },
    },
    approved: {
      on: {
        ...notPending('approved'),
        // A lost reply can be asked for again by the same key; a wrong code there is no free guess.
        'otp.verify': [
          onlyByExchange,
          { guard: 'retriesApproval', actions: verified('approved') },
          { guard: 'guessesAfterApproval', actions: [spendGuess, refuse('OtpNotPendingError', 'approved')] },
          { actions: refuse('OtpNotPendingError', 'approved') },
        ],
        'token.exchange': [{ guard: 'exchangeable', actions: [exchange, exchanged] }, { actions: noSuchToken }],
      },
    },
    failed: { on: notPending('failed') },
    canceled: { on: { ...notPending('canceled'), 'otp.cancel': { actions: accepted } } },
    expired: {
      on: {
        'otp.verify': [onlyByExchange, { actions: refuse('OtpExpiredError') }],
        'otp.cancel': { actions: refuse('OtpExpiredError') },
      },
    },
  },
})
