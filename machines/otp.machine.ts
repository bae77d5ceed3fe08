// The life of a verification: pending → approved | failed | expired | canceled. Every rule of the interface's transition table is a
// row here; the first row whose guard holds answers. Flat and pure: effects are named, not performed, and deadlines are compared
// with the time that came with the event.
import {
  answerWithCode,
  approve,
  approveByMessage,
  countSend,
  countWrongCode,
  deliver,
  deliverAnswer,
  exchange,
  fallBack,
  moveChannel,
  notifyDelivery,
  notifyOtp,
  otpSetup,
  recordReport,
  refund,
  refuse,
  refuseCooldown,
  refuseLocked,
  replyAccepted,
  replyExchanged,
  replyNoSuchToken,
  replyNoted,
  replyNothingNew,
  replyVerified,
} from './otp.actions.ts'
import { newOtp } from './otp.changes.ts'
import type { OtpStatus } from './otp.ts'

const onlyByExchange = { guard: 'provedByExchangeOnly' as const, actions: refuse('VerifyNotAllowedError') }
const notPending = (status: OtpStatus) => ({
  'otp.verify': [onlyByExchange, { actions: refuse('OtpNotPendingError', status) }],
  'otp.cancel': { actions: refuse('OtpNotPendingError', status) },
})

export const otpMachine = otpSetup.createMachine({
  id: 'otp',
  context: ({ input }) => newOtp(input),
  initial: 'pending',
  // What holds in every state that does not say otherwise.
  on: {
    'delivery.reported': [
      { guard: 'news', actions: [recordReport, notifyDelivery, refund, replyNoted] },
      { actions: replyNothingNew },
    ],
    'message.received': { actions: replyNothingNew },
    'token.exchange': { actions: replyNoSuchToken },
    'otp.resend': { actions: refuse('ResendNotAllowedError') },
    'otp.lapse': { actions: replyNothingNew },
  },
  states: {
    pending: {
      entry: [deliver, replyAccepted],
      on: {
        'otp.resend': [
          { guard: 'lapsed', actions: refuse('ResendNotAllowedError') },
          { guard: 'sendsSpent', actions: refuse('ResendNotAllowedError') },
          { guard: 'cooling', actions: refuseCooldown },
          { guard: 'nowhereToGo', actions: refuse('ResendNotAllowedError') },
          { guard: 'sameLink', actions: [countSend, replyAccepted] },
          { actions: [moveChannel, deliver, replyAccepted] },
        ],
        'otp.verify': [
          onlyByExchange,
          { guard: 'lapsed', actions: refuse('OtpExpiredError') },
          { guard: 'approvedByMessageOnly', actions: refuse('VerifyNotAllowedError') },
          { guard: 'locked', actions: refuseLocked },
          { guard: 'right', target: 'approved', actions: [approve, notifyOtp('approved'), replyVerified('approved')] },
          {
            guard: 'lastGuess',
            target: 'failed',
            actions: [countWrongCode, notifyOtp('failed'), replyVerified('failed')],
          },
          { actions: [countWrongCode, replyVerified('pending')] },
        ],
        'otp.cancel': [
          { guard: 'lapsed', actions: refuse('OtpExpiredError') },
          { target: 'canceled', actions: replyAccepted },
        ],
        'otp.lapse': [{ guard: 'lapsed', target: 'expired', actions: replyNoted }, { actions: replyNothingNew }],
        'delivery.reported': [
          { guard: 'fallsBack', actions: [recordReport, notifyDelivery, refund, fallBack, deliver, replyNoted] },
          { guard: 'news', actions: [recordReport, notifyDelivery, refund, replyNoted] },
          { actions: replyNothingNew },
        ],
        'message.received': [
          { guard: 'approves', target: 'approved', actions: [approveByMessage, notifyOtp('approved'), replyNoted] },
          { guard: 'asksForCode', actions: [answerWithCode, deliverAnswer, replyNoted] },
          { actions: replyNothingNew },
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
          { guard: 'locked', actions: refuseLocked },
          { guard: 'right', actions: replyVerified('approved') },
          { actions: [countWrongCode, refuse('OtpNotPendingError', 'approved')] },
        ],
        'token.exchange': [
          { guard: 'notExchangeable', actions: replyNoSuchToken },
          { guard: 'exchangedBefore', actions: replyExchanged },
          { actions: [exchange, replyExchanged] },
        ],
      },
    },
    failed: { on: notPending('failed') },
    canceled: { on: { ...notPending('canceled'), 'otp.cancel': { actions: replyAccepted } } },
    expired: {
      on: {
        'otp.verify': [onlyByExchange, { actions: refuse('OtpExpiredError') }],
        'otp.cancel': { actions: refuse('OtpExpiredError') },
      },
    },
  },
})
