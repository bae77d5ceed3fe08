// The only place where a verification or a message changes. In: what was saved (null for a start), and a command with
// its time. Out: what to save, the effects to save with it, the reply. The step is pure, so a process whose write lost
// a race loads the document and steps again.
import type { ExecutableActionObject } from 'xstate'
import { messageMachine } from './message.machine.ts'
import { replyOfEndedId } from './otp.ids.ts'
import { otpMachine } from './otp.machine.ts'
import { isMessage } from './otp.queries.ts'
import type { Effect, Otp, OtpEvent, OtpStart, Reply, SavedStatus } from './otp.ts'
import { OTP_VERSION, type SavedOtp, toCurrentVersion } from './otp.versions.ts'
import { runTransition } from './transition.ts'

export type OtpCommand = { id: string } & (({ type: 'otp.start' } & OtpStart) | OtpEvent)

export interface Step {
  saved: SavedOtp
  effects: Effect[]
  reply: Reply
  /** False when there is nothing to save: the command changed nothing, and its reply need not be remembered. */
  changed: boolean
  /** When the sweeper should remind this verification that its time is up; null when it has ended. */
  dueAt: number | null
}

/** Enough to recognise a command that is delivered again. */
const MAX_REMEMBERED_COMMANDS = 8

type Machine = typeof otpMachine
type Snapshot = ReturnType<Machine['transition']>
type Transition = [Snapshot, ExecutableActionObject[]]

// The cast is safe: both are made by one setup, and differ in their states alone, which only their own machine is asked about.
const MACHINES: Record<SavedOtp['machine'], Machine> = {
  otp: otpMachine,
  message: messageMachine as unknown as Machine,
}

/** xstate searches the machine for a state that was saved. What it finds depends on the value alone, so each state is searched for once. */
const statesOf = (machine: Machine): Partial<Record<SavedStatus, Snapshot>> =>
  Object.fromEntries(
    Object.keys(machine.states).map(value => [value, machine.resolveState({ value, context: {} as Otp })]),
  )
const STATES: Record<SavedOtp['machine'], Partial<Record<SavedStatus, Snapshot>>> = {
  otp: statesOf(MACHINES.otp),
  message: statesOf(MACHINES.message),
}

export function step(saved: SavedOtp | null, command: OtpCommand): Step {
  if (saved === null) return toStep(null, command, startTransition(command))
  const now = toCurrentVersion(saved)
  const repeated = now.last_commands.find(({ id }) => id === command.id)
  if (repeated) return { saved: now, effects: [], reply: repeated.reply, changed: false, dueAt: dueAt(now) }
  if (command.type === 'otp.start') throw new Error('a verification starts once')
  const ofEndedId = replyOfEndedId(now.context, command)
  if (ofEndedId) return { saved: now, effects: [], reply: ofEndedId, changed: false, dueAt: dueAt(now) }
  const state = STATES[now.machine][now.value]
  if (state === undefined) throw new Error(`no such state of ${now.machine}: ${now.value}`)
  const snapshot = { ...state, context: now.context }
  return toStep(
    now,
    command,
    runTransition(scope => MACHINES[now.machine].transition(snapshot, command, scope)),
  )
}

function startTransition(command: OtpCommand): Transition {
  if (command.type !== 'otp.start') throw new Error(`${command.type} needs a verification that was started`)
  return runTransition(scope => MACHINES[machineOf(command)].getInitialSnapshot(scope, command))
}

function toStep(before: SavedOtp | null, command: OtpCommand, [snapshot, actions]: Transition): Step {
  // xstate catches what a guard or an action throws and keeps it in the snapshot. That is a bug, so it is thrown again.
  if (snapshot.status === 'error') throw snapshot.error
  const { effects, reply, remembers } = outputOf(actions)
  const changed = before === null || snapshot.value !== before.value || snapshot.context !== before.context || remembers
  const saved: SavedOtp =
    before !== null && !changed
      ? before
      : {
          machine: machineOf(snapshot.context),
          version: OTP_VERSION,
          value: snapshot.value as SavedStatus,
          context: snapshot.context,
          last_commands: [...(before?.last_commands ?? []), { id: command.id, reply }].slice(-MAX_REMEMBERED_COMMANDS),
        }
  return { saved, effects, reply, changed, dueAt: dueAt(saved) }
}

/** What the row of the table has named: its effects, in its order; its reply; and whether the command is remembered although it changed
 *  nothing. */
function outputOf(actions: Transition[1]): Pick<Step, 'effects' | 'reply'> & { remembers: boolean } {
  const effects: Effect[] = []
  const replies: Reply[] = []
  let remembers = false
  for (const { type, params } of actions) {
    if (type === 'reply') replies.push(params as Reply)
    else if (type === 'remember') remembers = true
    else if (params) effects.push(...([params].flat() as Effect[]))
  }
  const [reply] = replies
  // Every row replies exactly once; a row that does not is a bug in the table.
  if (replies.length !== 1 || reply === undefined) throw new Error(`a command got ${replies.length} replies`)
  return { effects, reply, remembers }
}

const dueAt = ({ value, context }: SavedOtp): number | null => (value === 'pending' ? context.expires_at : null)

const machineOf = (otp: Pick<Otp, 'code'>): SavedOtp['machine'] => (isMessage(otp) ? 'message' : 'otp')
