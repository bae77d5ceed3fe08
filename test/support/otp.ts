// Builders for verifications and their commands, so that a test reads as a history: play(issued(), wrong(), resend(), right()).
// In: only the members that matter to the test. Out: data for `step`; ids are predictable (dlv_1, dlv_2, link_1, …).
import type { Channel } from '../../machines/channels.ts'
import { idsOf } from '../../machines/otp.ids.ts'
import { type OtpCommand, type Step, step } from '../../machines/otp.step.ts'
import type { Caller, EventOf, Link, Otp, OtpEvent, Reply, ReportedStatus, Rules } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { cooldownEndsAt } from '../../machines/resend.ts'
import type { WebhookEventType } from '../../machines/webhook-events.ts'

export const T0 = Date.UTC(2030, 0, 1)
export const SECOND = 1000
export const MINUTE = 60 * SECOND

export const server: Caller = { key_id: 'key_server', kind: 'server' }
export const otherServer: Caller = { key_id: 'key_server2', kind: 'server' }
export const device: Caller = { key_id: 'key_device', kind: 'publishable' }
export const otherDevice: Caller = { key_id: 'key_device2', kind: 'publishable' }

export const linkNo = (n: number): Link => ({ sealed_url: `sealed url ${n}`, reference: `link_${n}` })

export const defaultRules: Rules = {
  ttl_ms: 10 * MINUTE,
  verify_attempts: 5,
  send_attempts: 5,
  cooldowns_ms: [30 * SECOND, 60 * SECOND, 120 * SECOND],
  token_ttl_ms: 10 * MINUTE,
  auto_fallback: false,
}

/** Telegram and email are free. */
export const PRICES = { sms: 40_000, whatsapp: 10_000, reply: 3_000 }

export type StartCommand = Extract<OtpCommand, { type: 'otp.start' }>
export type StartOptions = Partial<Omit<StartCommand, 'rules'>> & { rules?: Partial<Rules> }

/** By default: a live verification of a British number by a server key, in the order sms, whatsapp, telegram. */
export function start(options: StartOptions = {}): StartCommand {
  const order = options.order ?? ['sms', 'whatsapp', 'telegram']
  return {
    id: freshId('cmd'),
    type: 'otp.start',
    at: T0,
    otp_id: 'otp_1',
    company_id: 'cmp_1',
    app_id: 'app_1',
    mode: 'live',
    started_by: server,
    recipient: { kind: 'phone', sealed: 'sealed number', index: 'index', masked: '+44****56', country: 'GB' },
    client_ip: 'sealed address',
    locale: 'en',
    code: { secret: 's1', salt: 'sealed salt', length: 6 },
    whatsapp: 'template',
    channel: order[0] ?? 'sms',
    delivery_id: 'dlv_1',
    link: linkNo(1),
    prices: PRICES,
    ...options,
    order,
    rules: { ...defaultRules, ...options.rules },
  }
}

export const issued = (options: StartOptions = {}): SavedOtp => step(null, start(options)).saved

/** A step of a history: a command, made from the verification and the time at which it comes, or time that passes. */
export type Move = ((saved: SavedOtp, now: number) => OtpCommand) | { wait: number }

export interface Played extends Step {
  replies: Reply[]
  /** All webhook events of the history, in order. */
  events: WebhookEventType[]
  steps: Step[]
}

/** Plays the moves one after the other, each at the time of the one before unless it names its own. Returns the step of the last. */
export function play(saved: SavedOtp, ...moves: Move[]): Played {
  let now = latest(saved.context)
  const steps: Step[] = []
  for (const move of moves) {
    if ('wait' in move) {
      now += move.wait
      continue
    }
    const before = steps.at(-1)?.saved ?? saved
    const command = move(before, now)
    now = Math.max(now, command.at)
    steps.push(step(before, command))
  }
  const last = steps.at(-1)
  if (!last) throw new Error('nothing was played')
  const effects = steps.flatMap(one => one.effects)
  return {
    ...last,
    steps,
    replies: steps.map(({ reply }) => reply),
    events: effects.flatMap(effect => (effect.type === 'notify' ? [effect.event] : [])),
  }
}

/** The latest time in the data. The next move happens then. */
export const latest = ({ last_sent_at, approval, exchange, deliveries }: Otp): number =>
  Math.max(last_sent_at, approval?.at ?? 0, exchange?.at ?? 0, ...deliveries.map(({ updated_at }) => updated_at))

export const wait = (ms: number): Move => ({ wait: ms })

type Options<T extends OtpEvent['type']> = Partial<Omit<EventOf<T>, 'type'>> & { id?: string }

const verify =
  (fixed: Pick<EventOf<'otp.verify'>, 'right'>) =>
  (options: Options<'otp.verify'> = {}): Move =>
  (_, at) => ({
    id: freshId('cmd'),
    type: 'otp.verify',
    at,
    by: server,
    locked_ms: null,
    event_id: freshId('evt'),
    ...fixed,
    ...options,
  })

export const right = verify({ right: true })
export const wrong = verify({ right: false })

/** Resends as soon as the cooldown allows, unless `at` says otherwise. */
export const resend =
  (requestedChannel: Channel | null = null, options: Options<'otp.resend'> = {}): Move =>
  (saved, now) =>
    resendCommand(saved, now, requestedChannel, options)

export function resendCommand(
  saved: SavedOtp,
  now: number,
  requestedChannel: Channel | null,
  options: Options<'otp.resend'> = {},
): OtpCommand & { type: 'otp.resend' } {
  const inputs = { ...resendInputs(saved), ...options }
  const isUsable = requestedChannel === null || inputs.usable.includes(requestedChannel)
  return {
    id: freshId('cmd'),
    type: 'otp.resend',
    at: Math.max(now, cooldownEndsAt(saved.context)),
    requestedChannel,
    obstacle: isUsable ? null : 'no_provider',
    ...inputs,
  }
}

/** Another send for the recipient: the first that joins gets `otp_2`, the next one `otp_3`. */
export const join =
  (options: Options<'otp.resend'> = {}): Move =>
  (saved, now) => {
    const otp_id = `otp_${idsOf(saved.context).length + 1}`
    return {
      ...resendCommand(saved, now, options.requestedChannel ?? null, options),
      otp_id,
      joins: { by: server },
      ...options,
    }
  }

export const cancel =
  (options: Options<'otp.cancel'> = {}): Move =>
  (_, at) => ({ id: freshId('cmd'), type: 'otp.cancel', at, ...options })

export const lapse =
  (options: Options<'otp.lapse'> = {}): Move =>
  ({ context }) => ({ id: freshId('cmd'), type: 'otp.lapse', at: context.expires_at, ...options })

/** A provider's report on the latest delivery, or on the one named by `delivery_id`. */
export const reported =
  (status: ReportedStatus, options: Options<'delivery.reported'> = {}): Move =>
  (saved, at) => ({
    id: freshId('cmd'),
    type: 'delivery.reported',
    at,
    delivery_id: saved.context.deliveries.at(-1)?.delivery_id ?? 'dlv_none',
    status,
    event_id: freshId('evt'),
    ...resendInputs(saved),
    ...options,
  })

/** The user's message with the reference of the current link, or with the one given. */
export const message =
  (reference?: string, options: Options<'message.received'> = {}): Move =>
  (saved, at) => ({
    id: freshId('cmd'),
    type: 'message.received',
    at,
    reference: reference ?? saved.context.link?.reference ?? 'no link',
    new_delivery_id: nextDelivery(saved),
    prices: PRICES,
    event_id: freshId('evt'),
    ...options,
  })

export const exchange =
  (options: Options<'token.exchange'> = {}): Move =>
  (_, at) => ({ id: freshId('cmd'), type: 'token.exchange', at, key_id: server.key_id, genuine: true, ...options })

const resendInputs = (saved: SavedOtp) => ({
  usable: ['sms', 'whatsapp', 'telegram'] satisfies Channel[],
  new_delivery_id: nextDelivery(saved),
  link: linkNo(saved.context.sends + 1),
  prices: PRICES,
})

const nextDelivery = ({ context }: SavedOtp): string => `dlv_${context.deliveries.length + 1}`

let ids = 0
const freshId = (prefix: string): string => {
  ids += 1
  return `${prefix}_${ids}`
}
