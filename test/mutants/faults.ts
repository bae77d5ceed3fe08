// Planted faults, by the rule of correctness that each breaks (docs/architecture.md), and the test files that own the rule.
import {
  answers,
  condition,
  oneSide,
  operator,
  type Plant,
  replaced,
  swapped,
  unawaited,
  without,
  withoutItem,
} from './plant.ts'

export interface Fault {
  /** What is broken, as a sentence about behaviour. */
  fault: string
  /** A file of the product, without its ending. */
  file: string
  /** The function, constant or member in it; several from the outside inwards. */
  name: string
  plant: Plant
  /** Test files, below test/ and without their ending, of which at least one test must fail. */
  tests: readonly string[]
  /** The tests that find it run on these engines alone, and the run must have them. */
  needs?: 'MongoDB' | 'RabbitMQ'
  /** The title of the test that finds it, where its file has many that are slow. */
  only?: string
}

/** `at`: the file and the name. */
const fault = (
  what: string,
  at: string,
  plant: Plant,
  tests: string,
  more: Pick<Fault, 'needs' | 'only'> = {},
): Fault => {
  const [file = '', ...name] = at.split(' ')
  return { fault: what, file, name: name.join(' '), plant, tests: tests.split(' '), ...more }
}

export const FAULTS: Record<string, readonly Fault[]> = {
  'one handler, pure machines': [
    fault(
      'a wrong code after the approval spends no attempt',
      'machines/otp.machine approved otp.verify',
      withoutItem('countWrongCode'),
      'machines/verify.repeated',
    ),
    fault(
      'codes can be guessed without end',
      'machines/otp.queries attemptsLeft',
      answers('otp.rules.verify_attempts'),
      'machines/verify',
    ),
    fault(
      'a code is right after its time',
      'machines/otp.code-life isLapsed',
      answers('false'),
      'machines/verify machines/expiry',
    ),
    fault(
      'the late failure of an earlier delivery falls back once more',
      'machines/otp.guards',
      condition(['deliveries', 'at', 'delivery_id'], true),
      'machines/fallback',
    ),
    fault(
      'an approval can be repeated after its token was exchanged',
      'machines/otp.queries isRepeatOver',
      condition(['exchange'], false),
      'machines/verify.repeated machines/exchange',
    ),
    fault(
      'a verification that a newer release saved is taken for one of this release',
      'machines/otp.versions createMigrate',
      replaced('IfStatement', ['saved', 'version', 'Error'], ';'),
      'machines/otp.versions',
    ),
  ],
  'one write, on condition of its revision': [
    fault(
      'a command that is delivered again is executed again',
      'machines/otp.step step',
      condition(['repeated'], false),
      'machines/redelivery',
    ),
    fault(
      'two changes of a verification at once both count, and one is lost',
      'infra/store/embedded/writer changeOne',
      condition(['doc', 'rev'], false),
      'contract/store.embedded',
    ),
    fault(
      'a lost race counts or pays a second time',
      'services/otp/commit take',
      replaced('ReturnStatement', ['reserved'], ';'),
      'services/otp/calls/verify',
    ),
    fault(
      'an effect leaves before its change is saved',
      'services/otp/commit commitOnce',
      swapped(['changeOne', 'LOST'], ['relay', 'publish', 'effects']),
      'services/otp/commit',
    ),
    fault(
      'a key changes verifications of other apps',
      'services/otp/commit owns',
      condition(['app_id', 'owner'], true),
      'flow/status',
    ),
    fault(
      'a change that has lost a race is not tried again',
      'infra/store/lost-race retryAfterLostRace',
      replaced('BinaryExpression', ['tries', 'maxTries'], 'tries < 1'),
      'services/domain/money/accounts services/otp/calls/verify',
    ),
    fault(
      'the embedded store answers a write whose commit failed',
      'infra/store/embedded/group-commit rollBack',
      without('onRollback'),
      'infra/store/embedded.latest-docs',
    ),
    fault(
      'a primary of MongoDB that steps down in a bulk is taken for a refusal',
      'infra/store/mongo/errors bulkFailure',
      condition(['refused', 'isFinalCode'], false),
      'infra/store/mongo.errors',
    ),
  ],
  'a saga whose steps can be repeated': [
    fault(
      'a refused send keeps its idempotency key',
      'services/otp/calls/send createSend',
      replaced('ExpressionStatement', ['releaseKey', 'claim', 'catch'], ';'),
      'services/otp/calls/send',
    ),
    fault(
      'a refusal keeps what was reserved before it',
      'services/otp/reservation chainReservations',
      replaced('IfStatement', ['more', 'first', 'undo'], 'if (more.refusal) return more'),
      'services/otp/calls/send flow/challenge',
    ),
    fault(
      'two edges claim an idempotency key in different orders, and both send',
      'services/edge/calls claimOf',
      replaced('CallExpression', ['idempotencyIndexes', 'sort'], 'idempotencyIndexes(keyring, by, key)'),
      'services/edge/calls',
    ),
    fault(
      'a refund is settled before it is booked',
      'services/otp/reports/report-handler bookRefund',
      unawaited('accounts', 'enter'),
      'services/otp/reports/report-handler',
    ),
    fault(
      'a refund that two processes enter is paid twice',
      'services/domain/money/accounts read',
      replaced('ObjectExpression', ['account', 'onlyHolds'], '{ account }'),
      'services/domain/money/accounts',
    ),
    fault(
      'the hold of a resend that was cut off is never voided',
      'services/sweeper/holds hasDelivery',
      operator('!==', 'delivery_id'),
      'services/sweeper/holds',
    ),
    fault(
      'an erasure removes the idempotency key of a newer verification',
      'services/domain/privacy/erasure removeClaimsOf otp_id',
      replaced('ObjectExpression', ['$in'], '{ $exists: true }'),
      'services/domain/privacy/erasure',
    ),
  ],
  'what is owed follows from the state': [
    fault(
      'the lost event of an expiry is not told by its verification',
      'services/domain/verifications/owed eventsOf',
      condition(['end', 'expired'], false),
      'services/sweeper/owed-events',
    ),
    fault(
      'a failed message is not paid back',
      'services/domain/verifications/owed entriesOf',
      condition(['status', 'failed'], true),
      'services/sweeper/owed-events',
    ),
    fault(
      'a queued delivery whose message was lost is never published again',
      'services/sweeper/owed-deliveries createOwedDeliverySweeps',
      condition(['isHeld'], true),
      'services/sweeper/owed-deliveries',
    ),
    fault(
      'a backlog that is still in the queue is published again',
      'services/sweeper/lost-messages createMayHold',
      condition(['ready', '0'], true),
      'services/sweeper/owed-deliveries services/sweeper/owed-events',
    ),
    fault(
      'an event whose message was lost twice is looked for once',
      'services/sweeper/owed-events lookAll',
      condition(['next', 'null'], false),
      'services/sweeper/owed-events',
    ),
    fault(
      'a refund whose message was dropped is never entered',
      'services/sweeper/owed-events owed_events',
      without('enterOwed'),
      'services/sweeper/owed-events',
    ),
  ],
  'the broker loses nothing': [
    fault(
      'RabbitMQ confirms a message for a queue that does not exist',
      'infra/broker/amqp/publisher mandatory',
      replaced('Literal', [], 'false'),
      'contract/broker.amqp',
      { needs: 'RabbitMQ', only: 'Unroutable' },
    ),
    fault(
      'a message is acknowledged before its retry is published',
      'infra/broker/amqp/work-consumer move',
      swapped(['publisher', 'send'], ['acknowledger', 'ack']),
      'faults/processes/broker.amqp',
      { needs: 'RabbitMQ', only: 'is lost for publishing alone' },
    ),
    fault(
      'a message whose handler throws is buried at once',
      'infra/broker/dispatcher afterFailure',
      replaced('MemberExpression', ['delays', 'failures'], 'undefined'),
      'infra/broker/dispatcher',
    ),
    fault(
      'a message whose handler hangs past the grace is lost',
      'infra/broker/dispatcher stop',
      replaced('CallExpression', ['requeue', 'takeUnfinished'], 'takeUnfinished()'),
      'infra/broker/dispatcher',
    ),
    fault(
      'a publish on the embedded broker resolves before the work is done',
      'infra/broker/embedded/work-queue createWorkQueue',
      replaced(
        'ExpressionStatement',
        ['retryLater', 'settlement'],
        '{ finish(message); retryLater(message, settlement.afterMs) }',
      ),
      'infra/broker/embedded/work-queue',
    ),
    fault(
      'a command is executed whose caller has gone',
      'infra/broker/embedded/call-queue isExpired',
      answers('false'),
      'contract/broker.embedded',
    ),
    fault(
      'a starting process takes messages before it can publish',
      'infra/host attach',
      without('broker', 'whenUp'),
      'infra/host infra/host.readiness',
    ),
    fault(
      'a process is ready while one of its consumers is detached',
      'infra/readiness consumersCheck',
      condition(['attached', 'consumers'], true),
      'infra/host.readiness',
    ),
  ],
  'no secrets in flight': [
    fault(
      'the client address of a send is stored in the clear',
      'services/otp/calls/new-otp-document newOtpDocument',
      replaced('CallExpression', ['keyring', 'seal', 'clientIp'], 'clientAddress'),
      'flow/limits',
    ),
    fault(
      'a refused call keeps the recipient in the clear',
      'services/otp/calls/record-refusal sealed',
      replaced('CallExpression', ['keyring', 'seal', 'person'], 'JSON.stringify(person)'),
      'services/otp/calls/record-refusal flow/settings-trial',
    ),
    fault(
      'a message that failed keeps the code of its caller',
      'machines/message.machine reports',
      replaced('ArrayExpression', ['eraseGivenCode', 'refund'], '[recordReport, notifyDelivery, refund, replyNoted]'),
      'machines/message',
    ),
  ],
  'a claim before each provider call': [
    fault(
      'a process that has one message twice calls the provider twice',
      'services/channel/provider-attempts isNew',
      oneSide('left', 'isOwn', 'takeUncalled', 'maker', 'try'),
      'services/channel/call-provider',
    ),
    fault(
      'a message that comes again is given to another provider, though one may have taken it',
      'services/channel/deliver takeSteps',
      condition(['mayHaveHistory'], false),
      'services/channel/failover services/channel/deliver',
    ),
    fault(
      'a code is sent although its verification was canceled while it waited',
      'services/channel/deliver takeSteps',
      condition(['readAt', 'MAX_READ_AGE_MS'], false),
      'services/channel/waiting',
    ),
    fault(
      'a provider of one app reports on the delivery of another',
      'services/channel/callbacks/receipts ownAttempts',
      condition(['app_id'], true),
      'services/channel/callbacks/router',
    ),
    fault(
      'a delivery that an old primary does not know is dropped as erased',
      'services/channel/deliver findWithCertainty',
      oneSide('left', 'find', 'certain'),
      'services/channel/deliver',
    ),
    fault(
      'the hold of a verification that an old primary does not know is voided',
      'services/sweeper/holds holds',
      condition(['hasDelivery', 'certain'], true),
      'services/sweeper/holds',
    ),
  ],
  'each due work once, and endpoints apart': [
    fault(
      'the lease of a process that died never passes to another',
      'infra/leases takeInStore',
      replaced('ArrayExpression', ['holder', 'until', '$lte'], '[{ holder }]'),
      'infra/leases',
    ),
    fault(
      'a sweep that fails keeps the others from running',
      'services/sweeper/service sweepAll',
      replaced('CallExpression', ['sweepOne', 'catch', 'failed'], 'sweepOne(name, sweep, held)'),
      'services/sweeper/service',
    ),
    fault(
      'a reminder takes a call under way for lost, and the event is sent twice',
      'services/webhook/reminders endLostCall',
      condition(['clock', 'assumedLostAt'], false),
      'services/webhook/recovery',
    ),
    fault(
      'a caller gets the result of another one',
      'infra/batcher flush',
      replaced('AssignmentExpression', ['at', 'request', 'items'], 'at += 1'),
      'infra/batcher',
    ),
  ],
}
