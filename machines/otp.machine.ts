// The life of a verification: pending → approved | failed | expired | canceled. Every rule of the interface's transition table is a
// row here; the first row whose guard holds answers. Flat and pure: effects are named, not performed, and deadlines are compared
// with the time that came with the event.
import {
  accepted,
  answerWithCode,
  approve,
  approveByMessage,
  cooling,
  deliver,
  deliverAnswer,
  exchange,
  exchanged,
  fallBack,
  lockedOut,
  move,
  noSuchToken,
  noted,
  nothingNew,
  notifyDelivery,
  notifyOtp,
  otpSetup,
  record,
  refund,
  refuse,
  spendGuess,
  spendSend,
  verified,
} from './otp.actions.ts'
import { begun } from './otp.changes.ts'
import type { OtpStatus } from './otp.ts'

const onlyByExchange = { guard: 'provedByExchangeOnly' as const, actions: refuse('VerifyNotAllowedError') }
const notPending = (status: OtpStatus) => ({
  'otp.verify': [onlyByExchange, { actions: refuse('OtpNotPendingError', status) }],
  'otp.cancel': { actions: refuse('OtpNotPendingError', status) },
})

export const otpMachine = otpSetup.createMachine({
  id: 'otp',
  context: ({ input }) => begun(input),
  initial: 'pending',
  // What holds in every state that does not say otherwise.
  on: {
    'delivery.reported': [{ guard: 'news', actions: [record, notifyDelivery, refund, noted] }, { actions: nothingNew }],
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
          { guard: 'fallsBack', actions: [record, notifyDelivery, refund, fallBack, deliver, noted] },
          { guard: 'news', actions: [record, notifyDelivery, refund, noted] },
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
        // A lost reply can be asked for again by the key that approved; a wrong code there is no free guess.
        'otp.verify': [
          onlyByExchange,
          { guard: 'mayNotAskAgain', actions: refuse('OtpNotPendingError', 'approved') },
          { guard: 'locked', actions: lockedOut },
          { guard: 'right', actions: verified('approved') },
          { actions: [spendGuess, refuse('OtpNotPendingError', 'approved')] },
        ],
        'token.exchange': [
          { guard: 'notExchangeable', actions: noSuchToken },
          { guard: 'exchangedBefore', actions: exchanged },
          { actions: [exchange, exchanged] },
        ],
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
