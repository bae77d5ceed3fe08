// One request, one thread through the logs: its id is in the lines of every service that works for it, also after retries and repairs.

import process from 'node:process'
import { expect } from 'chai'
import type { Broker } from '../../infra/broker/broker.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type Answer, ask } from '../support/api-caller.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { type AnswerRequest, type Receiver, startReceiver } from '../support/receiver.ts'

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const KEYS = { test: 'sk_test_trace0123456789abcdef', live: 'sk_live_trace0123456789abcdef' }
/** Longer than the relay tries to publish an effect, and than the sweeper lets it be. */
const RELAY_GIVES_UP_MS = 9_000
const SWEEPER_ACTS_MS = 15_000

type Line = Record<string, unknown>

describe('the trace of a request', () => {
  let flow: Flow
  let [endpoint, gateway]: Receiver[] = []
  let answerOf: { endpoint: AnswerRequest; gateway: AnswerRequest }
  let channelsAreDown = false

  const refusingChannels = (broker: Broker): Broker => ({
    ...broker,
    publish: (queue, message) =>
      channelsAreDown && queue.startsWith('channel.')
        ? Promise.reject(new Unavailable('no channel today'))
        : broker.publish(queue, message),
  })

  before(async () => {
    endpoint = await startReceiver((request, response) => answerOf.endpoint(request, response))
    gateway = await startReceiver((request, response) => answerOf.gateway(request, response))
    const app = {
      id: 'app_trace',
      keys: Object.entries(KEYS).map(([mode, key]) => ({ id: `key_${mode}`, key })),
      webhook: { url: `http://127.0.0.1:${endpoint.port}/hooks`, secret: `whsec_${'c2VjcmV0'.repeat(4)}` },
      providers: [
        { name: 'own', channel: 'sms', type: 'http', config: { url: `http://127.0.0.1:${gateway.port}/send` } },
      ],
      settings: { routing: { default: ['sms'] } },
    }
    flow = await startFlow({
      engines: 'embedded',
      env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' },
      bootstrap: { companies: [{ id: 'cmp_trace', apps: [app] }] },
      decorate: opened => ({ ...opened, broker: refusingChannels(opened.broker) }),
    })
  })
  after(async () => {
    await flow?.stop()
    await Promise.all([endpoint?.close(), gateway?.close()])
  })
  beforeEach(() => {
    channelsAreDown = false
    const ok: AnswerRequest = (_, response) => void response.end()
    answerOf = { endpoint: ok, gateway: ok }
  })

  const send = (mode: keyof typeof KEYS, request_id: string, headers: object = {}): Promise<Answer> =>
    ask(`${flow.countersign.url}/api/v1/otp/send`, {
      method: 'POST',
      token: KEYS[mode],
      headers: { 'X-Request-Id': request_id, traceparent: TRACEPARENT, ...headers },
      body: JSON.stringify({ recipient: freshNumber() }),
    })

  const linesOf = (otp_id: string): Line[] => flow.countersign.log.lines().filter(line => line.otp_id === otp_id)

  const waitForLines = (otp_id: string, event: string, count: number): Promise<Line[]> =>
    flow.eventually(() => {
      const lines = linesOf(otp_id).filter(({ msg }) => msg === event)
      expect(lines, event).to.have.length(count)
      return lines
    })

  /** Answers the first call with a 500, the later ones with a 200. */
  const failOnce = (): AnswerRequest => {
    let calls = 0
    return (_, response) => {
      calls += 1
      response.statusCode = calls === 1 ? 500 : 200
      response.end()
    }
  }

  it('is in the lines of the edge, the OTP actor, the channel and the webhook actor, with their roles', async () => {
    answerOf.endpoint = failOnce()
    const { body, headers } = await send('test', 'abc')
    expect(headers.get('x-request-id')).to.equal('abc')
    const attempts = await waitForLines(body.otp_id, 'webhook.attempted', 2)
    expect(attempts.map(({ outcome }) => outcome)).to.deep.equal(['refused', 'delivered'])

    const lines = linesOf(body.otp_id)
    const rolesByEvent = lines.map(({ msg, role }) => `${role} ${msg}`)
    expect(rolesByEvent).to.include.members([
      'edge http.answered',
      'otp call.answered',
      'channel:sms delivery.attempted',
      'otp report.handled',
      'webhook webhook.attempted',
    ])
    for (const line of lines) expect(line, JSON.stringify(line)).to.include({ request_id: 'abc', pid: process.pid })
    const calls = endpoint?.received.slice(-2) ?? []
    expect(calls.map(call => call.headers.traceparent)).to.deep.equal([TRACEPARENT, TRACEPARENT])
  })

  it('stays with a delivery that is retried, and is not given to the vendor', async () => {
    answerOf.gateway = failOnce()
    const { body } = await send('live', 'retried-1')
    const attempts = await waitForLines(body.otp_id, 'delivery.attempted', 2)
    expect(attempts.map(({ outcome, request_id }) => `${outcome} ${request_id}`)).to.deep.equal([
      'failed retried-1',
      'accepted retried-1',
    ])
    for (const { headers } of gateway?.received ?? [])
      expect(headers).not.to.have.any.keys('traceparent', 'x-request-id')
  })

  it('stays with a delivery that the sweeper publishes again', async () => {
    channelsAreDown = true
    const { body } = await send('test', 'swept-1')
    const [refused] = await waitForLines(body.otp_id, 'effect.publish_failed', 1)
    expect(refused).to.include({ request_id: 'swept-1', queue: 'channel.sms' })
    await flow.advance(RELAY_GIVES_UP_MS)
    channelsAreDown = false
    await flow.advance(SWEEPER_ACTS_MS)
    // On a slow machine the fake time between two looks of the sweeper passes before the channel answers, and it publishes once more.
    const attempts = await flow.eventually(() => {
      const lines = linesOf(body.otp_id).filter(({ msg }) => msg === 'delivery.attempted')
      expect(lines).not.to.be.empty
      return lines
    })
    for (const attempt of attempts) expect(attempt).to.include({ request_id: 'swept-1', outcome: 'accepted' })
  })

  it('says of a refused request who made it and why', async () => {
    const answer = await ask(`${flow.countersign.url}/api/v1/otp/send`, {
      method: 'POST',
      token: KEYS.test,
      headers: { 'X-Request-Id': 'refused-1' },
      body: JSON.stringify({ recipient: '+15005550003' }),
    })
    expect(answer.status).to.equal(403)
    const lines = flow.countersign.log.lines().filter(line => line.request_id === 'refused-1')
    const answered = lines.find(({ msg }) => msg === 'http.answered')
    expect(answered).to.include({
      role: 'edge',
      app_id: 'app_trace',
      key_id: 'key_test',
      status: 403,
      error_type: 'GeoBlockedError',
    })
    expect(lines.find(({ msg }) => msg === 'call.answered')).to.include({ role: 'otp', outcome: 'GeoBlockedError' })
  })
})
