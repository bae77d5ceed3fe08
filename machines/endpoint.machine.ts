// The state machine of a webhook endpoint: active → failing → paused → active. The first row whose guard holds is taken. The machine
// is flat and pure: time comes with the event, effects are named and not performed.
import { setup } from 'xstate'
import type { EndpointEffect, EndpointEvent, EndpointLife, PauseReason } from './endpoint.ts'

/** An endpoint is paused after this many failures in a row, if they span at least `MAX_FAILING_MS`. */
export const MAX_FAILURES_IN_A_ROW = 100
export const MAX_FAILING_MS = 60 * 60 * 1000
/** How exactly the time of the last success is saved: one write for each success would be too many. */
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

/** A guard for one type of event. The table uses it only in rows of that type, so the cast is safe. */
const when =
  <T extends EndpointEvent['type']>(rule: (life: EndpointLife, event: EventOf<T>) => boolean) =>
  ({ context, event }: TransitionArgs): boolean =>
    rule(context, event as EventOf<T>)

const endpointSetup = setup({
  types: { context: {} as EndpointLife, events: {} as EndpointEvent },
  guards: {
    endpointGone: when<'attempt.failed'>((_, { gone }) => gone),
    attemptsExhausted: when<'attempt.failed'>((_, { exhausted }) => exhausted),
    // The hour is counted from the first failure of the row: a time in which no event was sent says nothing about the endpoint.
    failedTooOften: when<'attempt.failed'>(
      ({ failures, failing_since }, { at }) =>
        failures + 1 >= MAX_FAILURES_IN_A_ROW && failing_since !== null && at - failing_since >= MAX_FAILING_MS,
    ),
    lastSuccessOutdated: when<'attempt.succeeded'>(
      ({ last_success_at }, { at }) => last_success_at === null || at - last_success_at >= SUCCESS_RESOLUTION_MS,
    ),
  },
  actions: {
    effect: (_, _effect: EndpointEffect) => {},
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

const effect = (params: EndpointEffect) => ({ type: 'effect' as const, params })
const pausedEffect = (reason: PauseReason) => effect({ type: 'paused', reason })

const pauseOnFailure = {
  gone: { guard: 'endpointGone' as const, target: 'paused', actions: [fail, pause('gone'), pausedEffect('gone')] },
  exhausted: {
    guard: 'attemptsExhausted' as const,
    target: 'paused',
    actions: [fail, pause('exhausted'), pausedEffect('exhausted')],
  },
}
const enableTransition = { target: 'active', actions: enable }
const pauseByOperator = { target: 'paused', actions: [pause('operator'), pausedEffect('operator')] }

export const endpointMachine = endpointSetup.createMachine({
  id: 'endpoint',
  context: newEndpoint,
  initial: 'active',
  states: {
    active: {
      on: {
        'attempt.succeeded': { guard: 'lastSuccessOutdated', actions: succeed },
        'attempt.failed': [pauseOnFailure.gone, pauseOnFailure.exhausted, { target: 'failing', actions: fail }],
        // A webhook event may wait for its retry while others succeed.
        'endpoint.enable': { actions: enable },
        'endpoint.pause': pauseByOperator,
      },
    },
    failing: {
      on: {
        'attempt.succeeded': { target: 'active', actions: [succeed, effect({ type: 'recovered' })] },
        'attempt.failed': [
          pauseOnFailure.gone,
          pauseOnFailure.exhausted,
          { guard: 'failedTooOften', target: 'paused', actions: [fail, pause('failing'), pausedEffect('failing')] },
          { actions: fail },
        ],
        'endpoint.enable': enableTransition,
        'endpoint.pause': pauseByOperator,
      },
    },
    // The result of a call that was under way when the endpoint was paused changes nothing: only an operator ends a pause.
    paused: { on: { 'endpoint.enable': enableTransition } },
  },
})
