import { expect } from 'chai'
import {
  MAX_FAILING_MS,
  MAX_FAILURES_IN_A_ROW,
  newEndpoint,
  SUCCESS_RESOLUTION_MS,
} from '../../machines/endpoint.machine.ts'
import { endpointLife, stepEndpoint } from '../../machines/endpoint.step.ts'
import {
  enable,
  endpoint,
  failed,
  HOUR,
  MINUTE,
  newActiveEndpoint,
  pause,
  play,
  succeeded,
} from '../support/endpoint-machine.ts'

describe('an active endpoint', () => {
  it('is failing from the first failure on, and readers still see it as active', () => {
    const { status, life, effects } = play(newActiveEndpoint, failed(5))
    expect(status).to.equal('active')
    expect(life.value).to.equal('failing')
    expect(life.context).to.include({ failures: 1, failing_since: 5 })
    expect(effects).to.deep.equal([])
  })

  it('saves the time of its last success once a minute', () => {
    const { life, changed } = stepEndpoint(newActiveEndpoint, [succeeded(10)])
    expect([changed, life.context.last_success_at]).to.deep.equal([true, 10])
    const saved = { status: 'active', life } as const
    expect(stepEndpoint(saved, [succeeded(10 + SUCCESS_RESOLUTION_MS - 1)]).changed).to.equal(false)
    expect(stepEndpoint(saved, [succeeded(10 + SUCCESS_RESOLUTION_MS)]).life.context.last_success_at).to.equal(
      10 + MINUTE,
    )
  })

  it('is paused by a 410, by a webhook event that used up its attempts, and by an operator', () => {
    for (const [event, reason] of [
      [failed(7, { gone: true }), 'gone'],
      [failed(7, { exhausted: true }), 'exhausted'],
      [pause(7), 'operator'],
    ] as const)
      for (const state of [newActiveEndpoint, endpoint('failing', { failures: 3, failing_since: 1 })]) {
        const { status, life, effects } = stepEndpoint(state, [event])
        expect([status, life.value]).to.deep.equal(['paused', 'paused'])
        expect(life.context.paused).to.deep.equal({ at: 7, reason })
        expect(effects).to.deep.equal([{ type: 'paused', reason }])
      }
    expect(play(newActiveEndpoint, failed(7, { gone: true, exhausted: true })).life.context.paused?.reason).to.equal(
      'gone',
    )
  })

  it('stays active when it is enabled, which is saved, so that its events in retry are due', () => {
    const { life, changed, effects } = stepEndpoint(endpoint('active', { last_success_at: 3 }), [enable(5)])
    expect([life.value, changed, effects]).to.deep.equal(['active', true, []])
    expect(life.context).to.deep.equal({ ...newEndpoint, last_success_at: 3, enabled_at: 5 })
  })
})

describe('a failing endpoint', () => {
  const failing = (failures: number) => endpoint('failing', { failures, failing_since: 0, last_success_at: null })

  it('recovers with one success, even after 99 failures', () => {
    const { life, effects } = play(failing(99), succeeded(9))
    expect(life).to.deep.include({ value: 'active' })
    expect(life.context).to.include({ failures: 0, failing_since: null, last_success_at: 9 })
    expect(effects).to.deep.equal([{ type: 'recovered' }])
  })

  it('forgets its failures when an operator enables it', () => {
    const { life, effects } = play(failing(99), enable(9))
    expect(life).to.deep.include({ value: 'active' })
    expect(life.context).to.include({ failures: 0, failing_since: null, enabled_at: 9 })
    expect(effects).to.deep.equal([])
  })

  it('is paused by its hundredth failure in a row once it has failed for an hour', () => {
    const { life, effects } = play(failing(MAX_FAILURES_IN_A_ROW - 1), failed(MAX_FAILING_MS))
    expect(life.value).to.equal('paused')
    expect(life.context).to.deep.include({ failures: 100, paused: { at: HOUR, reason: 'failing' } })
    expect(effects).to.deep.equal([{ type: 'paused', reason: 'failing' }])
  })
})

describe('a paused endpoint', () => {
  const paused = endpoint('paused', {
    failures: 100,
    failing_since: 0,
    last_success_at: 3,
    paused: { at: 9, reason: 'failing' },
  })

  it('is not changed by the results of calls that were under way', () => {
    for (const event of [succeeded(HOUR), failed(HOUR), failed(HOUR, { gone: true }), pause(HOUR)])
      expect(stepEndpoint(paused, [event]).changed, event.type).to.equal(false)
  })

  it('starts without failures when it is enabled, and keeps its last success', () => {
    const { status, life, effects } = play(paused, enable(HOUR))
    expect([status, life.value]).to.deep.equal(['active', 'active'])
    expect(life.context).to.deep.equal({ ...newEndpoint, last_success_at: 3, enabled_at: HOUR })
    expect(effects).to.deep.equal([])
  })
})

describe('the stored state of an endpoint', () => {
  it('is new when the document has only a status, and paused when that status is paused', () => {
    expect(endpointLife(newActiveEndpoint)).to.deep.include({ value: 'active', context: newEndpoint })
    expect(endpointLife({ status: 'paused' }).context.paused?.reason).to.equal('operator')
  })

  it('follows a status that was changed by hand', () => {
    const { life } = play(newActiveEndpoint, failed(5))
    expect(endpointLife({ status: 'paused', life }).value).to.equal('paused')
    const stopped = play(newActiveEndpoint, failed(5, { gone: true })).life
    expect(endpointLife({ status: 'active', life: stopped })).to.deep.include({ value: 'active' })
  })

  it('is refused when a newer release saved it', () => {
    const { life } = play(newActiveEndpoint, failed(5))
    expect(() => stepEndpoint({ status: 'active', life: { ...life, version: 2 } }, [])).to.throw('newer release')
  })

  it('is restored from version 1', () => {
    const golden = {
      status: 'active' as const,
      life: {
        machine: 'endpoint' as const,
        version: 1,
        value: 'failing' as const,
        context: { failures: 7, failing_since: 1, last_success_at: 0, paused: null, enabled_at: null },
      },
    }
    expect(play(golden, failed(9)).life.context).to.deep.equal({ ...golden.life.context, failures: 8 })
  })
})
