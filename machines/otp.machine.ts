// The state machine of a verification: pending → approved | failed | expired | canceled. Each state lists the events it takes, and each
// event has rows, one per rule; the first row whose guard holds is taken. The machine is flat and pure: effects are named and not
// performed, and deadlines are compared with the time that comes with the event. Where several ids stand for the verification, a row is
// about the one that the event names; an id that has ended while others go on is answered before the table is asked (otp.step.ts).
import {
  addUnpaidAnswer,
  addUnpaidFallback,
  answerWithCode,
  approve,
  approveByMessage,
  askForContact,
  countSend,
  countWrongCode,
  deliver,
  deliverAnswer,
  end,
  exchange,
  fail,
  fallBack,
  join,
  lateReceipts,
  moveChannel,
  notifyDelivery,
  notifyEnded,
  notifyOtp,
  notifyUnpaid,
  otpSetup,
  rechargeApproved,
  recordReport,
  refund,
  refuse,
  refuseChannel,
  refuseCooldown,
  refuseLocked,
  remember,
  replyAccepted,
  replyExchanged,
  replyNoSuchToken,
  replyNoted,
  replyNothingNew,
  replyResent,
  replyVerified,
} from './otp.actions.ts'
import { newOtp } from './otp.changes.ts'
import type { OtpStatus } from './otp.ts'

const onlyByExchange = {
  guard: 'provedByExchangeOnly' as const,
  actions: refuse('VerifyNotAllowedError', { cause: 'proved_by_exchange' }),
}
const refuseResend = (otp_status: OtpStatus) => refuse('ResendNotAllowedError', { cause: 'not_pending', otp_status })
const notPending = (otp_status: OtpStatus) => ({
  'otp.resend': { actions: refuseResend(otp_status) },
  'otp.verify': [onlyByExchange, { actions: refuse('OtpNotPendingError', { otp_status }) }],
  'otp.cancel': { actions: refuse('OtpNotPendingError', { otp_status }) },
})

export const otpMachine = otpSetup.createMachine({
  id: 'otp',
  context: ({ input }) => newOtp(input),
  initial: 'pending',
  // These rows hold in every state that has no rows of its own for the event.
  on: {
    'delivery.reported': [
      { guard: 'newDeliveryStatus', actions: [recordReport, notifyDelivery, refund, replyNoted] },
      ...lateReceipts,
      { actions: replyNothingNew },
    ],
    'message.received': { actions: replyNothingNew },
    'token.exchange': { actions: replyNoSuchToken },
    'otp.lapse': { actions: replyNothingNew },
  },
  states: {
    pending: {
      // Also the row of `otp.start`, which has no event here: a new verification enters this state.
      entry: [deliver, replyAccepted],
      on: {
        'otp.resend': [
          { guard: 'lapsed', actions: refuseResend('expired') },
          { guard: 'noSendsLeft', actions: refuse('ResendNotAllowedError', { cause: 'send_attempts_spent' }) },
          { guard: 'coolingDown', actions: refuseCooldown },
          { guard: 'noUsableChannel', actions: refuseChannel },
          { guard: 'resendsSameLink', actions: [join, countSend, replyResent] },
          { actions: [join, moveChannel, deliver, replyResent] },
        ],
        'otp.verify': [
          onlyByExchange,
          { guard: 'lapsed', actions: refuse('OtpExpiredError') },
          {
            guard: 'approvedByMessageOnly',
            actions: refuse('VerifyNotAllowedError', { cause: 'approved_by_message' }),
          },
          { guard: 'recipientLocked', actions: refuseLocked },
          {
            guard: 'codeIsRight',
            target: 'approved',
            actions: [approve, notifyOtp('approved'), rechargeApproved, replyVerified('approved')],
          },
          {
            guard: 'lastGuessOfAll',
            target: 'failed',
            actions: [fail, notifyOtp('failed'), replyVerified('failed')],
          },
          { guard: 'lastGuess', actions: [fail, notifyOtp('failed'), replyVerified('failed')] },
          { actions: [countWrongCode, replyVerified('pending')] },
        ],
        'otp.cancel': [
          { guard: 'lapsed', actions: refuse('OtpExpiredError') },
          { guard: 'leftToOtherIds', actions: [notifyEnded('canceled'), end, replyAccepted] },
          { target: 'canceled', actions: [notifyEnded('canceled'), end, replyAccepted] },
        ],
        'otp.lapse': [
          { guard: 'lapsed', target: 'expired', actions: [notifyEnded('expired'), end, replyNoted] },
          { actions: replyNothingNew },
        ],
        'delivery.reported': [
          {
            guard: 'fallbackIsUnpaid',
            actions: [recordReport, addUnpaidFallback, notifyDelivery, notifyUnpaid, refund, replyNoted],
          },
          { guard: 'fallsBack', actions: [recordReport, fallBack, deliver, notifyDelivery, refund, replyNoted] },
          { guard: 'newDeliveryStatus', actions: [recordReport, notifyDelivery, refund, replyNoted] },
          ...lateReceipts,
          { actions: replyNothingNew },
        ],
        'message.received': [
          {
            guard: 'messageApproves',
            target: 'approved',
            actions: [approveByMessage, notifyOtp('approved'), replyNoted],
          },
          { guard: 'messageAsksForCode', actions: [answerWithCode, deliverAnswer, replyNoted] },
          { guard: 'messageNeedsContact', actions: [askForContact, deliverAnswer, replyNoted] },
          { guard: 'answerIsUnpaid', actions: [addUnpaidAnswer, notifyUnpaid, replyNoted] },
          { actions: replyNothingNew },
        ],
      },
    },
    approved: {
      on: {
        ...notPending('approved'),
        // The key that approved may repeat the call for a short time, because its reply may have been lost. A wrong code still costs an
        // attempt. The repeat is saved, although it changes nothing: its write loses the race with a wrong code that was compared at the
        // same time, so parallel codes are compared no more often than there are attempts.
        'otp.verify': [
          onlyByExchange,
          { guard: 'mayNotRepeatVerify', actions: refuse('OtpNotPendingError', { otp_status: 'approved' }) },
          { guard: 'repeatIsOver', actions: refuse('OtpNotPendingError', { otp_status: 'approved' }) },
          { guard: 'recipientLocked', actions: refuseLocked },
          { guard: 'codeIsRight', actions: [remember, replyVerified('approved')] },
          { actions: [countWrongCode, refuse('OtpNotPendingError', { otp_status: 'approved' })] },
        ],
        'token.exchange': [
          { guard: 'notExchangeable', actions: replyNoSuchToken },
          { guard: 'alreadyExchanged', actions: replyExchanged },
          { actions: [exchange, replyExchanged] },
        ],
      },
    },
    failed: { on: notPending('failed') },
    canceled: { on: { ...notPending('canceled'), 'otp.cancel': { actions: replyAccepted } } },
    expired: {
      on: {
        'otp.resend': { actions: refuseResend('expired') },
        'otp.verify': [onlyByExchange, { actions: refuse('OtpExpiredError') }],
        'otp.cancel': { actions: refuse('OtpExpiredError') },
      },
    },
  },
})
