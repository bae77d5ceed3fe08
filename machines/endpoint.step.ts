// The only place where an endpoint's life changes. In: what its document says, and what happened since, in order. Out: what to
// save, and what it means for others. Pure, so whoever lost a race simply loads and steps again.

import { endpointMachine, newEndpoint } from './endpoint.machine.ts'
import type { EndpointEffect, EndpointEvent, EndpointStatus, SavedEndpoint } from './endpoint.ts'
import { runTransition } from './transition.ts'

export const ENDPOINT_VERSION = 1

/** The members of an endpoint's document that are the machine's. `status` is what others read: a failing endpoint is active. */
export interface EndpointState {
  status: 'active' | 'paused'
  /** Absent until it is first called, and in documents from before endpoints were called. */
  life?: SavedEndpoint
}

export interface EndpointStep {
  status: EndpointState['status']
  life: SavedEndpoint
  effects: EndpointEffect[]
  /** Whether there is anything to save. */
  changed: boolean
}

export type StepEndpoint = typeof stepEndpoint

/** What a document says of its endpoint's life. Somebody may have written `status` by hand: it wins. */
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
    // xstate keeps what a rule threw in the snapshot; it is a mistake of ours and must not pass for a silent event.
    if (next.status === 'error') throw next.error
    effects.push(...actions.filter(({ type }) => type === 'tell').map(({ params }) => params as EndpointEffect))
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
