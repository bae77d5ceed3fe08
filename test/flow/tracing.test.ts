// Spans: what a trace store gets of a send, from the request to the webhook, on both engine sets.
import { Buffer } from 'node:buffer'
import process from 'node:process'
import { expect } from 'chai'
import { ask } from '../support/api-caller.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { codeIn, type LiveFlow, startLiveFlow } from '../support/live-flow.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { itOnceOf, onEachEngineSet } from '../support/site.ts'
import { type CollectedSpan, pictureOf, type SpanCollector, startSpanCollector } from '../support/span-collector.ts'
import { startTwilio, type Twilio } from '../support/vendors/twilio.ts'

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const CALLERS_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const RECIPIENT = '+14155557321'
const STORE_OPERATION = /^(get|find|count|insert|change|update|modify|remove) \w+$/

onEachEngineSet('spans', engines => {
  let live: LiveFlow
  let collector: SpanCollector
  let endpoint: Receiver
  let twilio: Twilio
  let code: string
  beforeEach(async () => {
    collector = await startSpanCollector()
    endpoint = await startReceiver()
  })
  afterEach(async () => {
    await live.stop()
    await Promise.all([twilio.close(), endpoint.close(), collector.close()])
  })

  /** Sends a code, which Twilio delivers and the user enters, and ends the process, which sends all spans. */
  async function verifyOnce(traceparent = CALLER): Promise<CollectedSpan[]> {
    live = await startLiveFlow(engines, [], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    twilio = await startTwilio(live.vendorOptions)
    twilio.always({ receipts: ['delivered'] })
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const { app, server } = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }])
    await live.admin('PUT', `/apps/${app}/webhook`, { url: `http://127.0.0.1:${endpoint.port}/hooks` })
    await live.advance(CACHE_TTL_MS)
    const call = (path: string, body: object) =>
      ask(`${live.countersign.url}/api/v1/otp/${path}`, {
        method: 'POST',
        token: server.key,
        headers: { traceparent },
        body: JSON.stringify(body),
      })
    const { body } = await call('send', { recipient: RECIPIENT })
    await live.waitForDeliveries(server, body.otp_id, 'sms delivered')
    await live.eventually(() => expect(endpoint.received).to.have.length(1))
    code = codeIn(twilio.messages[0]?.form.Body)
    expect((await call('verify', { otp_id: body.otp_id, code })).body).to.include({ matched: true })
    await live.eventually(() => expect(endpoint.received).to.have.length(2))
    await live.advanceUntil(live.countersign.stop())
    return collector.spans()
  }

  it('show a send in one trace, from the caller’s request through queues, provider and receipt to the webhook', async () => {
    const spans = await verifyOnce()
    const withoutStore = spans.filter(({ name }) => !STORE_OPERATION.test(name))
    expect(pictureOf(withoutStore, CALLERS_TRACE)).to.deep.equal([
      'POST /api/v1/otp/send',
      '  call otp.calls',
      '    process otp.calls',
      '      process channel.sms',
      '        process otp.reports',
      '        process otp.reports',
      '          process webhook.deliver',
      '            POST',
      '        send by twilio',
      '          POST',
      'POST /api/v1/otp/verify',
      '  call otp.calls',
      '    process otp.calls',
      '      process webhook.deliver',
      '        POST',
    ])
    const find = (name: string): CollectedSpan => spans.find(span => span.name === name) as CollectedSpan
    expect(find('process channel.sms').attributes).to.include({
      'messaging.destination.name': 'channel.sms',
      'countersign.attempt': 1,
      'countersign.outcome': 'done',
    })
    expect(find('send by twilio').attributes).to.include({ 'countersign.outcome': 'accepted' })
    expect(find('POST /api/v1/otp/send').attributes).to.include({ 'http.response.status_code': 200 })
    expect(spans.filter(({ failed }) => failed)).to.deep.equal([])
    expect(collector.resources()[0]).to.include({ 'service.name': 'countersign', 'countersign.role': 'all' })

    const store = spans.filter(({ name }) => STORE_OPERATION.test(name))
    const handling = spans.filter(({ name }) => name.startsWith('process '))
    for (const { name, spanId } of handling)
      expect(
        store.filter(({ parentSpanId }) => parentSpanId === spanId),
        name,
      ).not.to.be.empty

    // The vendor's request is another trace, with a link to this one.
    const callback = spans.find(({ name }) => name.startsWith('POST /callbacks/'))
    expect(callback?.traceId).not.to.equal(CALLERS_TRACE)
    expect(callback?.links.map(({ traceId }) => traceId)).to.deep.equal([CALLERS_TRACE])

    // Receivers of events continue the call's own span.
    const calls = spans.filter(
      ({ name, traceId, attributes }) =>
        name === 'POST' && traceId === CALLERS_TRACE && attributes['server.address'] === '127.0.0.1',
    )
    const received = endpoint.received.map(({ headers }) => headers.traceparent)
    for (const traceparent of received)
      expect(calls.map(({ spanId }) => `00-${CALLERS_TRACE}-${spanId}-01`)).to.include(traceparent)

    const text = JSON.stringify(spans)
    for (const secret of [RECIPIENT.slice(1), code, twilio.auth_token]) expect(text).not.to.include(secret)
  })

  itOnceOf(engines)('are not recorded where the caller’s trace is not', async () => {
    const spans = await verifyOnce(CALLER.replace(/01$/, '00'))
    expect(spans.filter(({ traceId }) => traceId === CALLERS_TRACE)).to.deep.equal([])
    // The first event follows from the vendor's request, which begins a trace.
    const { traceparent } = endpoint.received.at(-1)?.headers ?? {}
    expect(traceparent).to.match(new RegExp(`^00-${CALLERS_TRACE}-.*-00$`))
  })
})

describe('the trace of a caller', () => {
  afterEach(() => {
    delete process.env.OTEL_TRACES_SAMPLER
  })

  it('decides what is recorded for a server key, and never for a device or a stranger', async () => {
    process.env.OTEL_TRACES_SAMPLER = 'parentbased_always_off'
    const collector = await startSpanCollector()
    const live = await startLiveFlow('embedded', [], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    const { app, server } = await live.createApp([])
    const device = (await live.admin('POST', `/apps/${app}/keys`, { kind: 'publishable', mode: 'test' })).body.key
    const basic = Buffer.from(`AC0123:${server.key}`).toString('base64')
    const calls: [authorization: string | null, status: number][] = [
      [`Bearer ${device}`, 404],
      ['Bearer sk_live_of_a_stranger', 401],
      [null, 401],
      [`Bearer ${server.key}`, 404],
      [`Basic ${basic}`, 401],
    ]
    for (const [authorization, status] of calls) {
      const headers = { traceparent: CALLER, ...(authorization === null ? {} : { authorization }) }
      expect((await ask(`${live.countersign.url}/api/v1/otp/otp_none`, { headers })).status).to.equal(status)
    }
    await live.stop()
    const requests = collector.spans().filter(({ name }) => name.startsWith('GET '))
    const recorded = requests.map(({ traceId, attributes }) => [traceId, attributes['http.response.status_code']])
    expect(recorded).to.deep.equal([404, 401].map(status => [CALLERS_TRACE, status]))
    await collector.close()
  })
})
