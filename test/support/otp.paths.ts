// Paths through the machine: the shortest path to each of its states, and every move from there. In: the machine, named moves and
// starts. Out: paths with the time of each event. Moves have names, so that another test can play the same paths over HTTP.
import { initialTransition, transition } from 'xstate'
import { getShortestPaths } from 'xstate/graph'
import { openIds, triesOf } from '../../machines/otp.ids.ts'
import { otpMachine } from '../../machines/otp.machine.ts'
import type { OtpCommand } from '../../machines/otp.step.ts'
import type { OtpEvent } from '../../machines/otp.ts'
import { OTP_VERSION, type SavedOtp } from '../../machines/otp.versions.ts'
import { type Row, rowsTaken } from './otp.rows.ts'
import * as otp from './otp.ts'

type Make = Extract<otp.Move, (...given: never[]) => OtpCommand>
const make = (move: otp.Move): Make => {
  if ('wait' in move) throw new Error('waiting is no event')
  return move
}
/** Plays the move after the code has expired. */
const afterExpiry =
  (move: (options: { at: number }) => otp.Move): Make =>
  (saved, now) =>
    make(move({ at: Math.max(now, saved.context.expires_at) }))(saved, now)
/** Plays the move at once, where it would by default wait until it is allowed. */
const now =
  (move: (options: { at: number }) => otp.Move): Make =>
  (saved, at) =>
    make(move({ at }))(saved, at)

/** The machine is asked about ids that are open: others answer for themselves. */
const lastOpenId = ({ context }: SavedOtp): string => openIds(context).at(-1) ?? context.otp_id

const { right, wrong, resend, cancel, lapse, reported, message, exchange, device, otherServer } = otp

const MOVES = {
  'verify right': make(right()),
  'verify wrong': make(wrong()),
  'verify right, another key': make(right({ by: otherServer })),
  'verify right, locked': make(right({ locked_ms: 60_000 })),
  'verify right, too late': afterExpiry(right),
  'verify right, a minute later': (saved, at) => make(right({ at: at + 60_000 }))(saved, at),
  'verify right, device': make(right({ by: device })),
  'verify wrong, device': make(wrong({ by: device })),
  'verify right, device, locked': make(right({ by: device, locked_ms: 60_000 })),
  'verify wrong, joined id': (saved, at) => make(wrong({ otp_id: lastOpenId(saved) }))(saved, at),
  join: make(otp.join()),
  resend: make(resend()),
  'resend sms': make(resend('sms')),
  'resend whatsapp': make(resend('whatsapp')),
  'resend telegram': make(resend('telegram')),
  'resend, too early': now(options => resend(null, options)),
  'resend, too late': afterExpiry(options => resend(null, options)),
  'resend, nothing usable': make(resend(null, { usable: [] })),
  cancel: make(cancel({ all: true })),
  'cancel, joined id': (saved, at) => make(cancel({ otp_id: lastOpenId(saved) }))(saved, at),
  'cancel, too late': afterExpiry(cancel),
  lapse: make(lapse()),
  'lapse, too early': now(lapse),
  'receipt: sent': make(reported('sent')),
  'receipt: delivered': make(reported('delivered')),
  'receipt: failed': make(reported('failed')),
  'receipt: failed, fallback unpaid': make(reported('failed', { unpaid: { event_id: 'evt_unpaid' } })),
  'receipt: the first failed': make(reported('failed', { delivery_id: 'dlv_1' })),
  'receipt: of nothing known': make(reported('delivered', { delivery_id: 'dlv_unknown' })),
  message: make(message()),
  'message, answer unpaid': make(message(undefined, { unpaid: { event_id: 'evt_unpaid' } })),
  'message without a number': make(message(undefined, { writer: 'sealed user' })),
  'message on a dead link': make(message('link_dead')),
  'message, too late': afterExpiry(options => message(undefined, options)),
  exchange: make(exchange()),
  'exchange, another key': make(exchange({ key_id: otherServer.key_id })),
  'exchange, forged': make(exchange({ genuine: false })),
  'exchange, too late': (saved, at) => make(exchange({ at: at + saved.context.rules.token_ttl_ms }))(saved, at),
} satisfies Record<string, Make>

/** A test key pays nothing, so these moves cannot be played with one. */
export const UNPAID_MOVES: readonly string[] = ['receipt: failed, fallback unpaid', 'message, answer unpaid']

/** They need a send, and not a call about a verification. */
export const JOINING_MOVES: readonly string[] = ['join', 'verify wrong, joined id', 'cancel, joined id']

type MoveName = keyof typeof MOVES
export type NamedEvent = OtpEvent & { id: string; move: MoveName }

/** Small limits, so that few moves reach them. */
const rules = { verify_attempts: 2, send_attempts: 3, cooldowns_ms: [30_000, 60_000] }

export const STARTS = {
  'by a server': { rules },
  'by a device': { rules, started_by: device },
  'falling back by itself': { rules: { ...rules, auto_fallback: true } },
  'that others may join': { rules, order: ['sms'] },
  'on a link_code link': { rules, order: ['whatsapp', 'sms'], whatsapp: 'link_code' },
  'on a link_inbound link': { rules, order: ['whatsapp', 'sms'], whatsapp: 'link_inbound' },
} satisfies Record<string, otp.StartOptions>

export type StartName = keyof typeof STARTS

export interface OtpPath {
  name: string
  start: otp.StartCommand
  /** In order; each has its time. */
  events: NamedEvent[]
  /** The state at the end, computed by xstate without `step`. */
  end: Pick<SavedOtp, 'value' | 'context'>
}

/** The full context would give endless states. These members are enough to tell apart what the guards tell apart. */
const stateKey = ({ value, context }: OtpPath['end']): string => {
  const receipt = context.deliveries.at(-1)?.status
  const pending = [context.sends, context.channel]
  const ended = [context.approval?.by?.key_id, context.exchange?.key_id]
  const open = openIds(context)
  return [
    value,
    open.length,
    open.map(id => triesOf(context, id).wrong_codes).join(),
    receipt,
    ...(value === 'pending' ? pending : ended),
  ].join()
}

function eventAt(move: MoveName, end: OtpPath['end']): NamedEvent {
  const saved: SavedOtp = { machine: 'otp', version: OTP_VERSION, last_commands: [], ...end }
  const command = MOVES[move](saved, otp.latest(end.context))
  if (command.type === 'otp.start') throw new Error('a path starts once')
  return { ...command, move }
}

const moveNames = Object.keys(MOVES) as MoveName[]
/** Ids multiply the states, so that only the verifications of one start get more of them. */
const mayJoin = ({ context }: OtpPath['end']): boolean => context.order.length === 1
const eventsAt = (end: OtpPath['end']): NamedEvent[] =>
  moveNames.filter(move => mayJoin(end) || !JOINING_MOVES.includes(move)).map(move => eventAt(move, end))

function shortestPaths(name: StartName): OtpPath[] {
  const paths = getShortestPaths(otpMachine, {
    input: otp.start(STARTS[name]),
    events: ({ value, context }) => eventsAt({ value, context }),
    serializeState: ({ value, context }) => stateKey({ value, context }),
    serializeEvent: event => ('move' in event ? String(event.move) : event.type),
  })
  return paths.map(({ steps }) => {
    const events = steps.map(({ event }) => event).filter((event): event is NamedEvent => 'move' in event)
    return followPath(
      name,
      events.map(({ move }) => move),
    )
  })
}

/** The graph keeps one context for all states with the same key, so the events of a path are made again along the path itself. */
function followPath(name: StartName, moves: MoveName[]): OtpPath {
  const start = otp.start(STARTS[name])
  const origin: OtpPath = { name, start, events: [], end: initialTransition(otpMachine, start)[0] }
  return moves.reduce((path, move) => extendPath(path, eventAt(move, path.end)), origin)
}

function extendPath({ name, start, events, end }: OtpPath, event: NamedEvent): OtpPath {
  const [{ value, context }] = transition(otpMachine, otpMachine.resolveState(end), event)
  return { start, name: `${name} → ${event.move}`, events: [...events, event], end: { value, context } }
}

let cachedPaths: OtpPath[] | undefined

/** One path to each state of the model. */
export function statePaths(): OtpPath[] {
  cachedPaths ??= (Object.keys(STARTS) as StartName[]).flatMap(shortestPaths)
  return cachedPaths
}

/** Every move from the end of a path. */
export const nextEvents = (path: OtpPath): NamedEvent[] => eventsAt(path.end)

/** A few short paths that together take every row of the table, for tests in which a path is slow. */
export function coveringPaths(): OtpPath[] {
  const taken = new Set<Row>()
  const chosen: OtpPath[] = []
  // Those that can be played over HTTP come first.
  const unplayable = ({ events }: OtpPath) =>
    events.some(({ move }) => UNPAID_MOVES.includes(move) || JOINING_MOVES.includes(move)) ? 1 : 0
  const sorted = statePaths().toSorted((a, b) => unplayable(a) - unplayable(b) || a.events.length - b.events.length)
  for (const path of sorted)
    for (const event of nextEvents(path)) {
      const rows = rowsTaken(path.end, event).filter(row => !taken.has(row))
      if (rows.length === 0) continue
      for (const row of rows) taken.add(row)
      chosen.push(extendPath(path, event))
    }
  return chosen
}
