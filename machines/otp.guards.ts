// The guards of the transition table. In: a verification and an event. Out: whether the row applies.
import { hasAnswer, hasContactRequest, hasUnpaidAnswer, isProgress } from './otp.changes.ts'
import { isLateReceipt, isPaid } from './otp.charges.ts'
import { isLapsed } from './otp.code-life.ts'
import { isLeftToOthers } from './otp.ids.ts'
import {
  attemptsLeft,
  carriesCode,
  completionOf,
  isExchangeable,
  isFirstGuess,
  isRepeatOver,
  sendsLeft,
} from './otp.queries.ts'
import type { Delivery, EventOf, Otp, OtpEvent } from './otp.ts'
import { fallbackChannel, isCoolingDown, resendTarget } from './resend.ts'

export interface TransitionArgs {
  context: Otp
  event: OtpEvent
}

/** A guard for one type of event. The table uses it only in rows of that type, so the cast is safe. */
const when =
  <T extends OtpEvent['type']>(rule: (otp: Otp, event: EventOf<T>) => boolean) =>
  ({ context, event }: TransitionArgs): boolean =>
    rule(context, event as EventOf<T>)

/** A guard that may stand in rows of any type of event. */
const always =
  (rule: (otp: Otp, event: OtpEvent) => boolean) =>
  ({ context, event }: TransitionArgs): boolean =>
    rule(context, event)

export const guards = {
  leftToOtherIds: when<'otp.cancel'>((otp, { otp_id, all }) => !all && isLeftToOthers(otp, otp_id)),
  lapsed: always((otp, { at }) => isLapsed(otp, at)),

  // A verification that a device started is proved to a backend by exchanging its token, which tells the recipient. Verifying does
  // not, so a user could otherwise hand the backend a verification of any recipient of their choice.
  provedByExchangeOnly: when<'otp.verify'>(
    (otp, { by }) => by.kind === 'server' && otp.started_by.kind === 'publishable',
  ),
  approvedByMessageOnly: always(otp => completionOf(otp) === 'inbound'),
  recipientLocked: when<'otp.verify'>((otp, { locked_ms, otp_id }) => locked_ms !== null && !isFirstGuess(otp, otp_id)),
  codeIsRight: when<'otp.verify'>((_, { right }) => right),
  lastGuess: when<'otp.verify'>((otp, { otp_id }) => attemptsLeft(otp, otp_id) <= 1),
  lastGuessOfAll: when<'otp.verify'>(
    (otp, { otp_id }) => attemptsLeft(otp, otp_id) <= 1 && !isLeftToOthers(otp, otp_id),
  ),
  mayNotRepeatVerify: when<'otp.verify'>(
    (otp, { by, otp_id }) => otp.approval?.by?.key_id !== by.key_id || attemptsLeft(otp, otp_id) === 0,
  ),
  repeatIsOver: always((otp, { at }) => isRepeatOver(otp, at)),

  noSendsLeft: always(otp => sendsLeft(otp) === 0),
  coolingDown: always((otp, { at }) => isCoolingDown(otp, at)),
  noUsableChannel: when<'otp.resend'>(
    (otp, { usable, requestedChannel }) => resendTarget(otp, usable, requestedChannel).kind === 'impossible',
  ),
  resendsSameLink: when<'otp.resend'>(
    (otp, { usable, requestedChannel }) => resendTarget(otp, usable, requestedChannel).kind === 'same_link',
  ),

  notExchangeable: when<'token.exchange'>(
    (otp, { key_id, genuine, at }) => !genuine || !isExchangeable(otp, key_id, at),
  ),
  alreadyExchanged: always(otp => otp.exchange !== null),

  newDeliveryStatus: when<'delivery.reported'>((otp, { delivery_id, status }) => isNewStatus(otp, delivery_id, status)),
  newlyDelivered: when<'delivery.reported'>(
    (otp, { delivery_id, status }) => status === 'delivered' && isNewStatus(otp, delivery_id, status),
  ),
  newlyFailed: when<'delivery.reported'>(
    (otp, { delivery_id, status }) => status === 'failed' && isNewStatus(otp, delivery_id, status),
  ),
  arrivedAfterRefund: when<'delivery.reported'>((otp, event) => {
    const delivery = arrivedAfterFailure(otp, event)
    return delivery !== undefined && delivery.micros > 0 && !isPaid(delivery)
  }),
  arrivedAfterFailure: when<'delivery.reported'>((otp, event) => arrivedAfterFailure(otp, event) !== undefined),
  fallsBack: when<'delivery.reported'>((otp, event) => fallsBack(otp, event)),
  fallbackIsUnpaid: when<'delivery.reported'>((otp, event) => event.unpaid !== undefined && fallsBack(otp, event)),

  messageApproves: when<'message.received'>(
    (otp, event) => comesFromRecipient(event) && matchesLink(otp, event) && otp.whatsapp === 'link_inbound',
  ),
  messageAsksForCode: when<'message.received'>((otp, event) => event.unpaid === undefined && asksForCode(otp, event)),
  messageNeedsContact: when<'message.received'>((otp, event) => event.unpaid === undefined && needsContact(otp, event)),
  answerIsUnpaid: when<'message.received'>(
    (otp, event) =>
      event.unpaid !== undefined && (asksForCode(otp, event) || needsContact(otp, event)) && !hasUnpaidAnswer(otp),
  ),
}

const deliveryOf = (otp: Otp, id: string): Delivery | undefined => otp.deliveries.find(one => one.delivery_id === id)

const isNewStatus = (otp: Otp, id: string, status: Delivery['status']): boolean =>
  isProgress(deliveryOf(otp, id), status)

function arrivedAfterFailure(
  otp: Otp,
  { delivery_id, status, at }: EventOf<'delivery.reported'>,
): Delivery | undefined {
  const delivery = deliveryOf(otp, delivery_id)
  return status === 'delivered' && delivery && isLateReceipt(delivery, at) ? delivery : undefined
}

const fallsBack = (otp: Otp, { delivery_id, status, usable, at }: EventOf<'delivery.reported'>): boolean =>
  otp.rules.auto_fallback &&
  status === 'failed' &&
  isNewStatus(otp, delivery_id, status) &&
  otp.deliveries.at(-1)?.delivery_id === delivery_id &&
  // The user waits in the chat for a code, or for nothing: another channel is for them to choose.
  carriesCode(otp.deliveries.at(-1) as Delivery) &&
  deliveryOf(otp, delivery_id)?.generation === otp.generation &&
  !isLapsed(otp, at) &&
  sendsLeft(otp) > 0 &&
  fallbackChannel(otp, usable) !== undefined

/** Reports of other users' messages do not reach the machine. */
const comesFromRecipient = ({ writer }: EventOf<'message.received'>): boolean => writer === undefined

const needsContact = (otp: Otp, event: EventOf<'message.received'>): boolean =>
  !comesFromRecipient(event) && matchesLink(otp, event) && (!hasContactRequest(otp) || sendsLeft(otp) > 0)

const asksForCode = (otp: Otp, event: EventOf<'message.received'>): boolean =>
  comesFromRecipient(event) &&
  matchesLink(otp, event) &&
  otp.whatsapp === 'link_code' &&
  (!hasAnswer(otp) || sendsLeft(otp) > 0)

const matchesLink = (otp: Otp, { reference, at }: EventOf<'message.received'>): boolean =>
  otp.link?.reference === reference && !isLapsed(otp, at)
