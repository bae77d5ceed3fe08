// The state machine of a message: pending → delivered | failed | expired | canceled. There is nothing to verify, so the
// calls of the client API find nothing here. The code that the caller gave is erased with every end. An expired message
// takes a late receipt, which says what became of it.
import {
  addUnpaidFallback,
  deliver,
  eraseGivenCode,
  fallBack,
  lateReceipts,
  notifyDelivery,
  notifyUnpaid,
  otpSetup,
  recordReport,
  refund,
  refuse,
  replyAccepted,
  replyNoSuchToken,
  replyNoted,
  replyNothingNew,
} from './otp.actions.ts'
import { newOtp } from './otp.changes.ts'

const notFound = { actions: refuse('OtpNotFoundError') }

const reports = [
  {
    guard: 'newlyDelivered' as const,
    target: '#message.delivered',
    actions: [recordReport, eraseGivenCode, notifyDelivery, replyNoted],
  },
  {
    guard: 'newlyFailed' as const,
    target: '#message.failed',
    actions: [recordReport, eraseGivenCode, notifyDelivery, refund, replyNoted],
  },
  { guard: 'newDeliveryStatus' as const, actions: [recordReport, replyNoted] },
  ...lateReceipts,
  { actions: replyNothingNew },
]

export const messageMachine = otpSetup.createMachine({
  id: 'message',
  context: ({ input }) => newOtp(input),
  initial: 'pending',
  // These rows hold in every state that has no rows of its own for the event.
  on: {
    'delivery.reported': reports,
    'otp.resend': notFound,
    'otp.verify': notFound,
    'otp.cancel': notFound,
    'otp.lapse': { actions: replyNothingNew },
    'message.received': { actions: replyNothingNew },
    'token.exchange': { actions: replyNoSuchToken },
  },
  states: {
    pending: {
      // Also the row of `otp.start`, which has no event here: a new message enters this state.
      entry: [deliver, replyAccepted],
      on: {
        'delivery.reported': [
          {
            guard: 'fallbackIsUnpaid',
            target: 'failed',
            actions: [
              recordReport,
              addUnpaidFallback,
              eraseGivenCode,
              notifyDelivery,
              notifyUnpaid,
              refund,
              replyNoted,
            ],
          },
          { guard: 'fallsBack', actions: [recordReport, fallBack, deliver, notifyDelivery, refund, replyNoted] },
          ...reports,
        ],
        'otp.lapse': [
          { guard: 'lapsed', target: 'expired', actions: [eraseGivenCode, replyNoted] },
          { actions: replyNothingNew },
        ],
        // An erasure of its recipient.
        'otp.cancel': { target: 'canceled', actions: [eraseGivenCode, replyAccepted] },
      },
    },
    delivered: {},
    failed: {},
    expired: {},
    canceled: {},
  },
})
