// The life of a webhook endpoint: active → failing → paused → active. The first row whose guard holds answers. Flat and pure: time
// comes with the event, effects are named and not performed.
import { setup } from 'xstate'
import type { EndpointEffect, EndpointEvent, EndpointLife, PauseReason } from './endpoint.ts'

/** As many failures in a row, over as long, end in a pause. */
export const MAX_FAILURES_IN_A_ROW = 100
export const MAX_FAILING_MS = 60 * 60 * 1000
/** How exactly the last success is known. */
export const SUCCESS_RESOLUTION_MS = 60 * 1000

export const newEndpoint: EndpointLife = {
  failures: 0,
  failing_since: null,
  last_success_at: null,
  paused: null,
  enabled_at: null,
}

type EventOf<T extends EndpointEvent['type']> = Extract<EndpointEvent, { type: T }>
interface TransitionArgs {
  context: EndpointLife
  event: EndpointEvent
}

/** A question about one kind of event: the table asks it only under that kind. */
const when =
  <T extends EndpointEvent['type']>(rule: (life: EndpointLife, event: EventOf<T>) => boolean) =>
  ({ context, event }: TransitionArgs): boolean =>
    rule(context, event as EventOf<T>)

const endpointSetup = setup({
  types: { context: {} as EndpointLife, events: {} as EndpointEvent },
  guards: {
    gone: when<'attempt.failed'>((_, { gone }) => gone),
    exhausted: when<'attempt.failed'>((_, { exhausted }) => exhausted),
    // An hour in which it was called and never succeeded: one in which nothing was sent says nothing about it.
    tooMany: when<'attempt.failed'>(
      ({ failures, failing_since }, { at }) =>
        failures + 1 >= MAX_FAILURES_IN_A_ROW && failing_since !== null && at - failing_since >= MAX_FAILING_MS,
    ),
    worthNoting: when<'attempt.succeeded'>(
      ({ last_success_at }, { at }) => last_success_at === null || at - last_success_at >= SUCCESS_RESOLUTION_MS,
    ),
  },
  actions: {
    tell: (_, _effect: EndpointEffect) => {},
  },
})

const assignWith = (rule: (life: EndpointLife, at: number) => EndpointLife) =>
  endpointSetup.assign(({ context, event }) => rule(context, event.at))

const succeed = assignWith((life, at) => ({
  ...life,
  failures: 0,
  failing_since: null,
  last_success_at: Math.max(at, life.last_success_at ?? 0),
}))
const fail = assignWith((life, at) => ({
  ...life,
  failures: life.failures + 1,
  failing_since: life.failing_since ?? at,
}))
const pause = (reason: PauseReason) => assignWith((life, at) => ({ ...life, paused: { at, reason } }))
const enable = assignWith((life, at) => ({ ...newEndpoint, last_success_at: life.last_success_at, enabled_at: at }))

const tell = (params: EndpointEffect) => ({ type: 'tell' as const, params })
const paused = (reason: PauseReason) => tell({ type: 'paused', reason })

const pauseOnFailure = {
  gone: { guard: 'gone' as const, target: 'paused', actions: [fail, pause('gone'), paused('gone')] },
  exhausted: {
    guard: 'exhausted' as const,
    target: 'paused',
    actions: [fail, pause('exhausted'), paused('exhausted')],
  },
}
const enableTransition = { target: 'active', actions: [enable, tell({ type: 'enabled' })] }
const pauseByOperator = { target: 'paused', actions: [pause('operator'), paused('operator')] }

export const endpointMachine = endpointSetup.createMachine({
  id: 'endpoint',
  context: newEndpoint,
  initial: 'active',
  states: {
    active: {
      on: {
        'attempt.succeeded': { guard: 'worthNoting', actions: succeed },
        'attempt.failed': [pauseOnFailure.gone, pauseOnFailure.exhausted, { target: 'failing', actions: fail }],
        'endpoint.pause': pauseByOperator,
      },
    },
    failing: {
      on: {
        'attempt.succeeded': { target: 'active', actions: [succeed, tell({ type: 'recovered' })] },
        'attempt.failed': [
          pauseOnFailure.gone,
          pauseOnFailure.exhausted,
          { guard: 'tooMany', target: 'paused', actions: [fail, pause('failing'), paused('failing')] },
          { actions: fail },
        ],
        'endpoint.enable': enableTransition,
        'endpoint.pause': pauseByOperator,
      },
    },
    // Calls that were under way when it was paused end here, and change nothing: only somebody enables it.
    paused: { on: { 'endpoint.enable': enableTransition } },
  },
})
