// All paths through the endpoint's machine, and the rules that hold in every random history of an endpoint.
import { expect } from 'chai'
import fc from 'fast-check'
import { getShortestPaths, getStateNodes } from 'xstate/graph'
import { endpointMachine, MAX_FAILING_MS, MAX_FAILURES_IN_A_ROW } from '../../machines/endpoint.machine.ts'
import { type EndpointStep, stepEndpoint } from '../../machines/endpoint.step.ts'
import type { EndpointEvent, EndpointLife } from '../../machines/endpoint.ts'
import {
  allRows,
  enable,
  failed,
  HOUR,
  newActiveEndpoint,
  pause,
  type Row,
  rowName,
  rowsTaken,
  succeeded,
} from '../support/endpoint-machine.ts'
import { propertyRuns } from '../support/property-runs.ts'

/** The latest time in the data. */
const latest = ({ failing_since, last_success_at, paused, enabled_at }: EndpointLife): number =>
  Math.max(failing_since ?? 0, last_success_at ?? 0, paused?.at ?? 0, enabled_at ?? 0)

/** Full counts would give endless states. These members are enough to tell apart what the guards tell apart. */
const reduced = (value: unknown, { failures, failing_since, last_success_at }: EndpointLife): string => {
  const count = failures === 0 ? 'none' : failures < MAX_FAILURES_IN_A_ROW - 1 ? 'some' : 'many'
  return [value, count, failing_since === null, last_success_at === null].join()
}

const moves = (life: EndpointLife): EndpointEvent[] => {
  const at = latest(life) + 1
  return [
    succeeded(at),
    succeeded(at + HOUR),
    enable(at),
    pause(at),
    failed(at),
    failed(at, { gone: true }),
    failed(at, { exhausted: true }),
    failed((life.failing_since ?? at) + MAX_FAILING_MS),
  ]
}

describe("the paths through the endpoint's machine", () => {
  const nearlyTooMany: EndpointLife = {
    failures: MAX_FAILURES_IN_A_ROW - 1,
    failing_since: 1,
    last_success_at: null,
    paused: null,
    enabled_at: null,
  }
  const starts = [
    endpointMachine.resolveState({ value: 'active', context: endpointMachine.config.context as EndpointLife }),
    endpointMachine.resolveState({ value: 'failing', context: nearlyTooMany }),
  ]
  const paths = starts.flatMap(fromState =>
    getShortestPaths(endpointMachine, {
      fromState,
      events: ({ context }) => moves(context),
      serializeState: ({ value, context }) => reduced(value, context),
      serializeEvent: event => JSON.stringify(event),
      limit: 1_000,
    }),
  )

  it('reach every state and take every row, and stepEndpoint agrees with the machine on each', () => {
    expect(new Set(paths.map(({ state }) => state.value))).to.have.all.keys('active', 'failing', 'paused')
    const taken = new Set<Row>()
    for (const { state } of paths)
      for (const event of moves(state.context)) {
        const { value, context } = state
        const rows = rowsTaken({ value: value as 'active', context }, event)
        expect(rows.length, event.type).to.be.at.most(1)
        for (const row of rows) taken.add(row)
        const life = { machine: 'endpoint', version: 1, value: value as 'active', context } as const
        const stepped = stepEndpoint({ status: String(value) === 'paused' ? 'paused' : 'active', life }, [event])
        expect(stepped.changed, rows.map(rowName).join()).to.equal(rows.length === 1)
      }
    expect(allRows.filter(row => !taken.has(row)).map(rowName)).to.deep.equal([])
  })

  it('have only flat states, without invoke and after', () => {
    for (const node of getStateNodes(endpointMachine.root)) {
      expect(node.type, node.key).to.equal('atomic')
      expect([node.invoke, node.after], node.key).to.deep.equal([[], []])
    }
  })

  it('lead from active to failing and paused, from failing to both others, from paused to active only', () => {
    const leads = allRows.filter(row => row.target).map(row => `${row.source.key} → ${row.target?.[0]?.key}`)
    expect(new Set(leads)).to.have.all.keys(
      'active → failing',
      'active → paused',
      'failing → active',
      'failing → paused',
      'paused → active',
    )
  })
})

const kinds = fc.constantFrom('succeed', 'succeed', 'fail', 'fail', 'fail', 'gone', 'exhaust', 'enable', 'pause')
const histories = fc.array(fc.tuple(kinds, fc.integer({ min: 0, max: HOUR })), { maxLength: 200 })

interface HistoryStep {
  event: EndpointEvent
  before: EndpointStep
  after: EndpointStep
}

function runHistory(history: readonly (readonly [string, number])[]): HistoryStep[] {
  let at = 1
  let before = stepEndpoint(newActiveEndpoint, [])
  return history.map(([kind, ms]) => {
    at += ms
    const events: Record<string, EndpointEvent> = {
      succeed: succeeded(at),
      fail: failed(at),
      enable: enable(at),
      pause: pause(at),
      gone: failed(at, { gone: true }),
      exhaust: failed(at, { exhausted: true }),
    }
    const event = events[kind] ?? enable(at)
    const after = stepEndpoint(before, [event])
    const step = { event, before, after }
    before = after
    return step
  })
}

const always = (holds: (steps: HistoryStep[]) => void) =>
  fc.assert(
    fc.property(histories, history => holds(runHistory(history))),
    { numRuns: propertyRuns(100) },
  )

describe('in every history of an endpoint', () => {
  it('a pause ends only when an operator enables the endpoint', () => {
    always(steps => {
      for (const { event, before, after } of steps)
        if (before.status === 'paused' && after.status === 'active') expect(event.type).to.equal('endpoint.enable')
    })
  })

  it('a pause has a true reason and causes one effect', () => {
    always(steps => {
      for (const { event, before, after } of steps) {
        const pauseBegins = before.status === 'active' && after.status === 'paused'
        expect(after.effects.filter(({ type }) => type === 'paused')).to.have.length(pauseBegins ? 1 : 0)
        const { context } = after.life
        expect(context.paused === null).to.equal(after.status === 'active')
        if (!pauseBegins || context.paused?.reason !== 'failing') continue
        expect(context.failures).to.be.at.least(MAX_FAILURES_IN_A_ROW)
        expect(event.at - (context.failing_since ?? event.at)).to.be.at.least(MAX_FAILING_MS)
      }
    })
  })

  it('failures are counted since the last success, and not during a pause', () => {
    always(steps => {
      let failures = 0
      for (const { event, before, after } of steps) {
        if (before.status === 'active' && event.type === 'attempt.failed') failures += 1
        if (before.status === 'active' && event.type === 'attempt.succeeded') failures = 0
        if (event.type === 'endpoint.enable') failures = 0
        expect(after.life.context.failures).to.equal(failures)
        expect(after.life.value === 'failing' || after.status === 'paused').to.equal(
          failures > 0 || after.status === 'paused',
        )
      }
    })
  })

  it('several events in one step have the same result as one step each', () => {
    always(steps => {
      const together = stepEndpoint(
        newActiveEndpoint,
        steps.map(({ event }) => event),
      )
      const last = steps.at(-1)?.after
      if (!last) return
      expect(together.life).to.deep.equal(last.life)
      expect(together.effects).to.deep.equal(steps.flatMap(({ after }) => after.effects))
    })
  })
})
