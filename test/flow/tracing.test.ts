// Spans: what a trace store gets of a send, from the request to the webhook, on both engine sets.
import { Buffer } from 'node:buffer'
import process from 'node:process'
import { expect } from 'chai'
import { ask } from '../support/api-caller.ts'
import { CACHE_TTL_MS } from '../support/flow.ts'
import { codeIn, type LiveFlow, startLiveFlow } from '../support/live-flow.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { onEachEngineSet } from '../support/site.ts'
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
  async function verifyOnce({ traceparent = CALLER, url = collector.url } = {}): Promise<CollectedSpan[]> {
    live = await startLiveFlow(engines, [], { OTEL_EXPORTER_OTLP_ENDPOINT: url })
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

  it('are not recorded where the caller’s trace is not', async () => {
    const spans = await verifyOnce({ traceparent: CALLER.replace(/01$/, '00') })
    expect(spans.filter(({ traceId }) => traceId === CALLERS_TRACE)).to.deep.equal([])
    // The first event follows from the vendor's request, which begins a trace.
    const { traceparent } = endpoint.received.at(-1)?.headers ?? {}
    expect(traceparent).to.match(new RegExp(`^00-${CALLERS_TRACE}-.*-00$`))
  })

  it('disturb nothing while their collector is away', async () => {
    await verifyOnce({ url: 'http://127.0.0.1:9' })
  })
})

describe('the trace of a caller', () => {
  let live: LiveFlow
  let collector: SpanCollector
  beforeEach(async () => {
    collector = await startSpanCollector()
  })
  afterEach(async () => {
    delete process.env.OTEL_TRACES_SAMPLER
    await live.stop()
    await collector.close()
  })
  const read = (headers: Record<string, string>) =>
    ask(`${live.countersign.url}/api/v1/otp/otp_none`, { headers: { traceparent: CALLER, ...headers } })

  it('decides what is recorded for a server key, and never for a device or a stranger', async () => {
    process.env.OTEL_TRACES_SAMPLER = 'parentbased_always_off'
    live = await startLiveFlow('embedded', [], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    const { app, server } = await live.createApp([])
    const { body } = await live.admin('POST', `/apps/${app}/keys`, { kind: 'publishable', mode: 'test' })
    const basic = Buffer.from(`AC0123:${server.key}`).toString('base64')
    expect((await read({ authorization: `Bearer ${body.key}` })).status).to.equal(404)
    expect((await read({ authorization: 'Bearer sk_live_of_a_stranger' })).status).to.equal(401)
    expect((await read({})).status).to.equal(401)
    expect((await read({ authorization: `Bearer ${server.key}` })).status).to.equal(404)
    expect((await read({ authorization: `Basic ${basic}` })).status).to.equal(401)
    await live.stop()
    const requests = collector.spans().filter(({ name }) => name.startsWith('GET '))
    expect(requests.map(({ traceId, attributes }) => [traceId, attributes['http.response.status_code']])).to.deep.equal(
      [
        [CALLERS_TRACE, 404],
        [CALLERS_TRACE, 401],
      ],
    )
  })

  it('is linked to that of the request, where it is not continued', async () => {
    live = await startLiveFlow('embedded', [], { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    await read({})
    await live.stop()
    const [request] = collector.spans().filter(({ name }) => name.startsWith('GET '))
    expect(request?.traceId).not.to.equal(CALLERS_TRACE)
    expect(request?.links.map(({ traceId }) => traceId)).to.deep.equal([CALLERS_TRACE])
  })
})
