// Random histories: any verification, then any commands, at any times. In: the values that fast-check generates. Out: the steps taken.
// Whether a code is right is decided beside the machine: a code belongs to the generation that it was made for.
import fc from 'fast-check'
import type { Channel } from '../../machines/channels.ts'
import { idsOf } from '../../machines/otp.ids.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { FailureReason } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import * as otp from './otp.ts'

const CHANNELS: Channel[] = ['sms', 'whatsapp', 'telegram']
const UNPAID = { unpaid: { event_id: 'evt_unpaid' } }
const callers = fc.constantFrom(otp.server, otp.device, otp.otherServer, otp.otherDevice)
const usable = fc.subarray(CHANNELS)

/** Which of the ids the caller names, as far as there are as many. */
const as = fc.nat(3)

/** `code` is the generation for which the code is right; 0 is never right. */
const guess = fc.record({ does: fc.constant('guess'), code: fc.nat(3), by: callers, locked: fc.boolean(), as })
const resend = fc.record({
  does: fc.constant('resend'),
  requestedChannel: fc.option(fc.constantFrom(...CHANNELS)),
  usable,
  as,
})
/** Only a send by a server joins, and only what a server has started. */
const join = fc.record({
  does: fc.constant('join'),
  requestedChannel: fc.option(fc.constantFrom(...CHANNELS)),
  usable,
})
const REASONS: FailureReason[] = ['recipient_unreachable', 'provider_failed', 'no_answer', 'superseded', 'no_provider']
/** A report may give a reason with any status; it counts with `failed` only. */
const report = fc.record({
  does: fc.constant('report'),
  of: fc.nat(3),
  status: fc.constantFrom('sent', 'delivered', 'failed'),
  reason: fc.option(fc.constantFrom(...REASONS)),
  /** Whether a provider reports the failure; if not, none has accepted the message. */
  receipt: fc.boolean(),
  unpaid: fc.boolean(),
  usable,
})
const message = fc.record({
  does: fc.constant('message'),
  link: fc.integer({ min: 1, max: 4 }),
  /** The user hides their number. */
  hidden: fc.boolean(),
  unpaid: fc.boolean(),
})
const exchange = fc.record({ does: fc.constant('exchange'), by: callers, genuine: fc.boolean() })
const cancel = fc.record({ does: fc.constant('cancel'), as, all: fc.boolean() })
const lapse = fc.record({ does: fc.constant('lapse') })

const action = fc.oneof(
  { arbitrary: guess, weight: 6 },
  { arbitrary: resend, weight: 6 },
  { arbitrary: report, weight: 4 },
  { arbitrary: message, weight: 3 },
  { arbitrary: exchange, weight: 2 },
  { arbitrary: join, weight: 2 },
  { arbitrary: cancel, weight: 1 },
  { arbitrary: lapse, weight: 1 },
)

/** The time before an action: none, up to about a cooldown, or up to about a lifetime. */
const pause = fc.oneof(fc.constant(0), fc.nat(130 * otp.SECOND), fc.nat(15 * otp.MINUTE))

const rules = fc.record({
  ttl_ms: fc.integer({ min: otp.MINUTE, max: 60 * otp.MINUTE }),
  verify_attempts: fc.integer({ min: 1, max: 10 }),
  send_attempts: fc.integer({ min: 1, max: 20 }),
  cooldowns_ms: fc.array(fc.nat(120 * otp.SECOND), { minLength: 1, maxLength: 4 }),
  token_ttl_ms: fc.integer({ min: otp.SECOND, max: 60 * otp.MINUTE }),
  auto_fallback: fc.boolean(),
})

export const histories = fc.record({
  start: fc.record({
    started_by: callers,
    whatsapp: fc.constantFrom('template', 'link_code', 'link_inbound'),
    order: fc.shuffledSubarray(CHANNELS, { minLength: 1 }),
    rules,
  }),
  actions: fc.array(fc.record({ pause, action }), { maxLength: 40 }),
})

type History = typeof histories extends fc.Arbitrary<infer S> ? S : never
type Action = History['actions'][number]['action']

export interface HistoryStep {
  before: SavedOtp
  command: OtpCommand
  after: Step
  /** The generation that is current when the command comes, counted without the machine. */
  generation: number
  action: Action
}

export interface HistoryRun {
  started: Step
  steps: HistoryStep[]
}

/** The arguments of `step` are frozen, so a step that is not pure throws. */
export function runHistory({ start, actions }: History): HistoryRun {
  const started = step(null, deepFreeze(otp.start(start)))
  const steps: HistoryStep[] = []
  let before = started.saved
  let now = otp.T0
  let generation = 1
  for (const { pause, action } of actions) {
    now += pause
    const command = deepFreeze(commandFor(action, generation, deepFreeze(before), now))
    const after = step(before, command)
    steps.push({ before, command, after, generation, action })
    if (command.type === 'otp.resend' && command.requestedChannel && after.reply.kind === 'accepted') generation += 1
    before = after.saved
  }
  return { started, steps }
}

function commandFor(action: Action, generation: number, saved: SavedOtp, at: number): OtpCommand {
  const move = moveFor(action, generation, at, idsOf(saved.context))
  if ('wait' in move) throw new Error('waiting is no command')
  return move(saved, at)
}

function moveFor(action: Action, generation: number, at: number, ids: readonly string[]): otp.Move {
  const named = (as: number) => ({ otp_id: ids[as % ids.length] ?? '' })
  switch (action.does) {
    case 'guess': {
      const locked_ms = action.locked && action.code === 0 ? otp.SECOND : null
      return (action.code === generation ? otp.right : otp.wrong)({ by: action.by, locked_ms, at, ...named(action.as) })
    }
    case 'resend':
      return otp.resend(action.requestedChannel, { usable: action.usable, at, ...named(action.as) })
    case 'join':
      return otp.join({ requestedChannel: action.requestedChannel, usable: action.usable, at })
    case 'report':
      return otp.reported(action.status, {
        delivery_id: `dlv_${action.of}`,
        usable: action.usable,
        at,
        ...(action.status === 'failed' && !action.receipt ? {} : { provider: 'main' }),
        ...(action.reason === null ? {} : { reason: action.reason }),
        ...(action.unpaid ? UNPAID : {}),
      })
    case 'message':
      return otp.message(`link_${action.link}`, {
        at,
        ...(action.hidden ? { writer: 'sealed user' } : {}),
        ...(action.unpaid ? UNPAID : {}),
      })
    case 'exchange':
      return otp.exchange({ key_id: action.by.key_id, genuine: action.genuine, at })
    case 'cancel':
      return otp.cancel({ at, ...(action.all ? { all: true } : named(action.as)) })
    default:
      return otp.lapse({ at })
  }
}

function deepFreeze<T>(data: T): T {
  if (typeof data !== 'object' || data === null || Object.isFrozen(data)) return data
  for (const part of Object.values(data)) deepFreeze(part)
  return Object.freeze(data)
}
