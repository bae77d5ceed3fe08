// The rows of the transition table, read from the machine itself, and which of them a command takes: the machine is asked with the
// same question its transition asks, so a row counts as taken only when it is the one that answers.
import { getStateNodes } from 'xstate/graph'
import { otpMachine } from '../../machines/otp.machine.ts'
import type { OtpEvent } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'

export type Row = ReturnType<typeof otpMachine.getTransitionData>[number]

export const stateNodes = [otpMachine.root, ...getStateNodes(otpMachine.root)]

export const allRows: Row[] = stateNodes.flatMap(node => [...node.transitions.values()].flat() as Row[])

/** `pending otp.resend 3 cooling`: the state, the event, which row, its guard. */
export function rowName(row: Row): string {
  const place = row.source.transitions.get(row.eventType)?.indexOf(row) ?? -1
  return [row.source.key, row.eventType, place + 1, row.guard ?? 'otherwise'].join(' ')
}

/** One, unless the table forgot this kind of event. */
export const rowsTaken = ({ value, context }: Pick<SavedOtp, 'value' | 'context'>, event: OtpEvent): Row[] =>
  otpMachine.getTransitionData(otpMachine.resolveState({ value, context }), event)
