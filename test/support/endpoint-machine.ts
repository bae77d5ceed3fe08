// Endpoints for tests of their machine: events by name, and the transitions of the machine, each called a row of its table.
import { getStateNodes } from 'xstate/graph'
import { endpointMachine, newEndpoint } from '../../machines/endpoint.machine.ts'
import { ENDPOINT_VERSION, type EndpointState, type EndpointStep, stepEndpoint } from '../../machines/endpoint.step.ts'
import type { EndpointEvent, EndpointLife, SavedEndpoint } from '../../machines/endpoint.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export const succeeded = (at: number): EndpointEvent => ({ type: 'attempt.succeeded', at })
export const failed = (at: number, more: { gone?: boolean; exhausted?: boolean } = {}): EndpointEvent => ({
  type: 'attempt.failed',
  at,
  gone: false,
  exhausted: false,
  ...more,
})
export const enable = (at: number): EndpointEvent => ({ type: 'endpoint.enable', at })
export const pause = (at: number): EndpointEvent => ({ type: 'endpoint.pause', at })

export const newActiveEndpoint: EndpointState = { status: 'active' }

export function endpoint(value: SavedEndpoint['value'], context: Partial<EndpointLife> = {}): EndpointState {
  const life: SavedEndpoint = {
    machine: 'endpoint',
    version: ENDPOINT_VERSION,
    value,
    context: { ...newEndpoint, ...context },
  }
  return { status: value === 'paused' ? 'paused' : 'active', life }
}

/** Applies events one after the other, each to the state saved before. */
export const play = (state: EndpointState, ...events: EndpointEvent[]): EndpointStep =>
  events.reduce((before, event) => stepEndpoint(before, [event]), stepEndpoint(state, []))

export type Row = ReturnType<typeof endpointMachine.getTransitionData>[number]

export const allRows: Row[] = getStateNodes(endpointMachine.root).flatMap(
  node => [...node.transitions.values()].flat() as Row[],
)

/** `failing attempt.failed 3 failedTooOften`: the state, the event, which row, its guard. */
export function rowName(row: Row): string {
  const place = row.source.transitions.get(row.eventType)?.indexOf(row) ?? -1
  return [row.source.key, row.eventType, place + 1, row.guard ?? 'otherwise'].join(' ')
}

/** The transitions that an event takes; none when it changes nothing. */
export const rowsTaken = ({ value, context }: Pick<SavedEndpoint, 'value' | 'context'>, event: EndpointEvent): Row[] =>
  endpointMachine.getTransitionData(endpointMachine.resolveState({ value, context }), event)
