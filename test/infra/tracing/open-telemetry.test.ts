import { Buffer } from 'node:buffer'
import * as otel from '@opentelemetry/api'
import { expect } from 'chai'
import { done } from '../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../infra/broker/embedded.ts'
import type { Outbound } from '../../../infra/outbound/outbound.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import { createOpenTelemetry } from '../../../infra/tracing/open-telemetry.ts'
import { traceBroker } from '../../../infra/tracing/traced-broker.ts'
import { traceOutbound } from '../../../infra/tracing/traced-outbound.ts'
import { traceStore } from '../../../infra/tracing/traced-store.ts'
import { inSpan, type Tracing } from '../../../infra/tracing/tracing.ts'
import { CONTRACT_TOPOLOGY } from '../../contract/broker.contract.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { type CapturedLog, createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type CollectedSpan, type SpanCollector, startSpanCollector } from '../../support/span-collector.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const NOT_RECORDED = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00'

describe('spans', () => {
  let clock: TestClock
  let captured: CapturedLog
  let collector: SpanCollector
  let tracing: Tracing
  beforeEach(async () => {
    clock = testClock()
    captured = createCapturedLog()
    collector = await startSpanCollector()
    tracing = createOpenTelemetry({ url: `${collector.url}/v1/traces`, attributes: {}, clock, log: captured.log })
  })
  afterEach(() => collector.close())

  /** Ends the recording, and waits until the collector has everything. */
  async function collected(): Promise<Map<string, CollectedSpan>> {
    await tracing.close()
    return new Map(collector.spans().map(span => [span.name, span]))
  }
  const begin = (name: string, parent: Parameters<Tracing['begin']>[1]['parent']) =>
    tracing.begin(name, { kind: 'consumer', parent, attributes: {} })

  it('continue a trace for an hour, and then link to it', async () => {
    const request = begin('request', null)
    request.end()
    const trace = request.trace('abc')
    expect(trace).to.include({ request_id: 'abc', traced_at: clock.now() })
    await clock.advance(HOUR_MS)
    begin('soon', trace).end()
    await clock.advance(1)
    const late = begin('late', trace)
    late.end()
    begin('after', late.trace('abc')).end()
    const spans = await collected()
    const ids = ({ traceId, spanId }: CollectedSpan) => ({ traceId, spanId })
    const of = (name: string): CollectedSpan => spans.get(name) as CollectedSpan
    expect(of('soon')).to.deep.include({
      traceId: of('request').traceId,
      parentSpanId: of('request').spanId,
      links: [],
    })
    expect(of('late').traceId).not.to.equal(of('request').traceId)
    expect(of('late').links).to.deep.equal([ids(of('request'))])
    expect(of('after')).to.deep.include({ traceId: of('late').traceId, parentSpanId: of('late').spanId, links: [] })
  })

  it('are not made for work on the store that goes on after the span that started it', async () => {
    const embedded = createEmbeddedStore({ folder: createTemporaryFolder(), collections: CONTRACT_COLLECTIONS, clock })
    const things = traceStore(embedded, tracing).docs('things')
    let goOn = (): void => {}
    const later = new Promise<void>(resolve => {
      goOn = resolve
    })
    let lasting = Promise.resolve()
    await inSpan(tracing, 'message', { kind: 'consumer', parent: null, attributes: {} }, async () => {
      await things.get(['a'])
      lasting = later.then(async () => void (await things.count({ group: 'g' })))
    })
    goOn()
    await lasting
    await embedded.close()
    expect([...(await collected()).keys()]).to.have.members(['message', 'get things'])
  })

  it('are not made for calls of others that are made after the span that started them, or in one that is left out', async () => {
    const made: string[] = []
    const outbound = traceOutbound(
      {
        request: async ({ url }) => {
          made.push(url)
          return { status: 200, headers: {}, body: Buffer.alloc(0) }
        },
      } as Partial<Outbound> as Outbound,
      tracing,
    )
    const call = (path: string) =>
      outbound.request({
        method: 'POST',
        url: `https://vendor.example/${path}`,
        headers: {},
        body: Buffer.alloc(0),
        signal: new AbortController().signal,
        maxBytes: 1,
      })
    const ended = begin('message', null)
    await tracing.within(ended, () => call('during'))
    ended.end()
    await tracing.within(ended, () => call('after'))
    const leftOut = begin('left out', { request_id: 'a', traceparent: NOT_RECORDED })
    await tracing.within(leftOut, () => call('in'))
    leftOut.end()
    expect(made.map(url => new URL(url).pathname)).to.deep.equal(['/during', '/after', '/in'])
    await tracing.close()
    expect(collector.spans().map(({ name }) => name)).to.have.members(['message', 'POST'])
  })

  it('of an earlier message are left where messages without a trace are handled', async () => {
    const embedded = createEmbeddedBroker({ topology: CONTRACT_TOPOLOGY, clock })
    const broker = traceBroker(embedded, tracing, clock)
    const within: unknown[] = []
    await inSpan(tracing, 'message', { kind: 'consumer', parent: null, attributes: {} }, async () => {
      await broker.consume(
        'channel.sms',
        async waiting => {
          within.push(tracing.current())
          return waiting.map(done)
        },
        { prefetch: 1 },
      )
      await broker.publish('channel.sms', { id: 'a', body: {} })
      await eventually(() => expect(within).to.deep.equal([null]))
    })
    await broker.close(0)
    await tracing.close()
  })

  it('that the collector does not take are told in the log, once a minute, without its answer', async () => {
    await tracing.close()
    const refusing = await startReceiver((_, response) => {
      response.statusCode = 400
      response.end('what the collector says')
    })
    tracing = createOpenTelemetry({
      url: `http://127.0.0.1:${refusing.port}/v1/traces`,
      attributes: {},
      clock,
      log: captured.log,
    })
    const told = () => captured.lines().filter(({ msg }) => msg === 'tracing.not_sent')
    // A full batch is sent at once.
    const sendBatch = () => {
      for (let spans = 0; spans < 512; spans += 1) begin('work', null).end()
    }
    sendBatch()
    await eventually(() => expect(told()).to.have.length(1))
    expect(told()[0]).to.include({ level: 'warn', why: 'Bad Request' })
    expect(captured.output()).not.to.include('what the collector says')
    otel.diag.error('again')
    await clock.advance(MINUTE_MS - 1)
    otel.diag.error('again')
    expect(told()).to.have.length(1)
    await clock.advance(1)
    otel.diag.error('later')
    expect(told().map(({ why }) => why)).to.deep.equal(['Bad Request', 'later'])
    await tracing.close()
    await refusing.close()
  })

  it('of failed work name the error and not its text', async () => {
    const failing = inSpan(tracing, 'work', { kind: 'consumer', parent: null, attributes: {} }, () =>
      Promise.reject(new TypeError('to +14155550100')),
    )
    expect(await failing.catch(({ name }) => name)).to.equal('TypeError')
    const span = (await collected()).get('work')
    expect(span).to.deep.include({ failed: true, attributes: { 'error.type': 'TypeError' } })
    expect(JSON.stringify(span)).not.to.include('4155550100')
  })
})
