// The only place where a webhook endpoint's state changes. In: what its document says, and the events since then, in order. Out: what
// to save, and the effects. The step is pure, so a process whose write lost a race loads the document and steps again.
import { endpointMachine, newEndpoint } from './endpoint.machine.ts'
import type { EndpointEffect, EndpointEvent, EndpointStatus, SavedEndpoint } from './endpoint.ts'
import { runTransition } from './transition.ts'

export const ENDPOINT_VERSION = 1

/** The members of an endpoint's document that belong to the machine. `status` is for readers, to whom a failing endpoint is active. */
export interface EndpointState {
  status: 'active' | 'paused'
  /** Absent until the endpoint's first event. */
  life?: SavedEndpoint
}

export interface EndpointStep {
  status: EndpointState['status']
  life: SavedEndpoint
  effects: EndpointEffect[]
  /** False when the events changed nothing and there is nothing to save. */
  changed: boolean
}

/** The machine's state as a document has it. If its members disagree, `status` was changed by hand, and wins. */
export function endpointLife({ status, life }: EndpointState): SavedEndpoint {
  if (life && life.version > ENDPOINT_VERSION)
    throw new Error(`saved by a newer release: endpoint version ${life.version}`)
  if (life && (life.value === 'paused') === (status === 'paused')) return life
  const context = life?.context ?? newEndpoint
  const paused = status === 'paused' ? { at: 0, reason: 'operator' as const } : null
  return savedEndpoint(status, { ...newEndpoint, last_success_at: context.last_success_at, paused })
}

export function stepEndpoint(state: EndpointState, events: readonly EndpointEvent[]): EndpointStep {
  const before = endpointLife(state)
  let snapshot = endpointMachine.resolveState({ value: before.value, context: before.context })
  const effects: EndpointEffect[] = []
  for (const event of events) {
    const [next, actions] = runTransition(scope => endpointMachine.transition(snapshot, event, scope))
    // xstate catches what a guard or an action throws and keeps it in the snapshot. That is a bug, so it is thrown again.
    if (next.status === 'error') throw next.error
    effects.push(...actions.filter(({ type }) => type === 'effect').map(({ params }) => params as EndpointEffect))
    snapshot = next
  }
  const value = snapshot.value as EndpointStatus
  const changed = value !== before.value || snapshot.context !== before.context
  const life = changed ? savedEndpoint(value, snapshot.context) : before
  return { status: value === 'paused' ? 'paused' : 'active', life, effects, changed }
}

const savedEndpoint = (value: EndpointStatus, context: SavedEndpoint['context']): SavedEndpoint => ({
  machine: 'endpoint',
  version: ENDPOINT_VERSION,
  value,
  context,
})
