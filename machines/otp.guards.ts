// The questions the transition table asks. In: a verification and the event that meets it. Out: yes or no.
import * as change from './otp.changes.ts'
import { attemptsLeft, completionOf, cooldownEndsAt, isExchangeable, isLapsed, sendsLeft } from './otp.queries.ts'
import type { Delivery, EventOf, Otp, OtpEvent } from './otp.ts'
import { fallbackChannel, resendTarget } from './resend.ts'

export interface TransitionArgs {
  context: Otp
  event: OtpEvent
}

/** A question about one kind of event: the table asks it only under that kind. */
const when =
  <T extends OtpEvent['type']>(rule: (otp: Otp, event: EventOf<T>) => boolean) =>
  ({ context, event }: TransitionArgs): boolean =>
    rule(context, event as EventOf<T>)

const always =
  (rule: (otp: Otp, event: OtpEvent) => boolean) =>
  ({ context, event }: TransitionArgs): boolean =>
    rule(context, event)

export const guards = {
  lapsed: always((otp, { at }) => isLapsed(otp, at)),

  // What a device started is proved by exchange only; else anyone could hand a backend a verification of his own.
  provedByExchangeOnly: when<'otp.verify'>(
    (otp, { by }) => by.kind === 'server' && otp.started_by.kind === 'publishable',
  ),
  approvedByMessageOnly: always(otp => completionOf(otp) === 'inbound'),
  locked: when<'otp.verify'>((_, { locked_ms }) => locked_ms !== null),
  right: when<'otp.verify'>((_, { right }) => right),
  lastGuess: always(otp => attemptsLeft(otp) <= 1),
  mayNotAskAgain: when<'otp.verify'>(
    (otp, { by }) => otp.approval?.by?.key_id !== by.key_id || attemptsLeft(otp) === 0,
  ),

  sendsSpent: always(otp => sendsLeft(otp) === 0),
  cooling: always((otp, { at }) => at < cooldownEndsAt(otp)),
  nowhereToGo: when<'otp.resend'>(
    (otp, { usable, requestedChannel }) => resendTarget(otp, usable, requestedChannel).kind === 'impossible',
  ),
  sameLink: when<'otp.resend'>(
    (otp, { usable, requestedChannel }) => resendTarget(otp, usable, requestedChannel).kind === 'same_link',
  ),

  notExchangeable: when<'token.exchange'>(
    (otp, { key_id, genuine, at }) => !genuine || !isExchangeable(otp, key_id, at),
  ),
  exchangedBefore: always(otp => otp.exchange !== null),

  news: when<'delivery.reported'>((otp, { reported_id, status }) => isNewStatus(otp, reported_id, status)),
  fallsBack: when<'delivery.reported'>((otp, event) => fallsBack(otp, event)),

  approves: when<'message.received'>((otp, event) => matchesLink(otp, event) && otp.whatsapp === 'link_inbound'),
  asksForCode: when<'message.received'>(
    (otp, event) =>
      matchesLink(otp, event) && otp.whatsapp === 'link_code' && (!change.hasAnswer(otp) || sendsLeft(otp) > 0),
  ),
}

const deliveryOf = (otp: Otp, id: string): Delivery | undefined => otp.deliveries.find(one => one.delivery_id === id)

const isNewStatus = (otp: Otp, id: string, status: Delivery['status']): boolean =>
  change.isProgress(deliveryOf(otp, id), status)

const fallsBack = (otp: Otp, { reported_id, status, usable, at }: EventOf<'delivery.reported'>): boolean =>
  otp.rules.auto_fallback &&
  status === 'failed' &&
  isNewStatus(otp, reported_id, status) &&
  otp.deliveries.at(-1)?.delivery_id === reported_id &&
  deliveryOf(otp, reported_id)?.generation === otp.generation &&
  !isLapsed(otp, at) &&
  sendsLeft(otp) > 0 &&
  fallbackChannel(otp, usable) !== undefined

const matchesLink = (otp: Otp, { reference, at }: EventOf<'message.received'>): boolean =>
  otp.link?.reference === reference && !isLapsed(otp, at)
