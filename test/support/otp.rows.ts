// The rows of the transition table, read from the machine, and which row an event takes. In: a state and an event. Out: the rows. The
// machine is asked in the same way as by its own transition, so a row counts as taken only if the machine chooses it.
import { getStateNodes } from 'xstate/graph'
import { otpMachine } from '../../machines/otp.machine.ts'
import type { Otp, OtpEvent } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'

export type Row = ReturnType<typeof otpMachine.getTransitionData>[number]

export const stateNodes = [otpMachine.root, ...getStateNodes(otpMachine.root)]

export const allRows: Row[] = stateNodes.flatMap(node => [...node.transitions.values()].flat() as Row[])

/** `pending otp.resend 3 coolingDown`: the state, the event, which row, its guard. */
export function rowName(row: Row): string {
  const place = row.source.transitions.get(row.eventType)?.indexOf(row) ?? -1
  return [row.source.key, row.eventType, place + 1, row.guard ?? 'otherwise'].join(' ')
}

/** What xstate finds for a state depends on its value alone, so it searches once for each. */
const states = new Map(
  Object.keys(otpMachine.states).map(value => [value, otpMachine.resolveState({ value, context: {} as Otp })]),
)

/** Exactly one row, unless the table has none for this type of event. */
export function rowsTaken({ value, context }: Pick<SavedOtp, 'value' | 'context'>, event: OtpEvent): Row[] {
  const state = states.get(value)
  if (!state) throw new Error(`the machine has no state ${value}`)
  return otpMachine.getTransitionData({ ...state, context }, event)
}
