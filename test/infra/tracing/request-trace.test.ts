import { expect } from 'chai'
import type { Context } from 'koa'
import { createRequestTracer } from '../../../infra/http/request-trace.ts'
import type { Span, SpanOptions, Tracing } from '../../../infra/tracing/tracing.ts'

const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('the span of a request', () => {
  /** What a request with these headers continues, what it is linked to, and the request id that is recorded. */
  async function traceFor(headers: Record<string, string>, requestId = 'a') {
    const recorded: { parent: unknown; links: unknown[]; id: unknown } = { parent: null, links: [], id: null }
    const span: Pick<Span, 'trace' | 'rename' | 'set' | 'link' | 'end'> = {
      trace: request_id => ({ request_id, traceparent: null }),
      rename() {},
      set(attributes) {
        recorded.id = attributes['countersign.request_id']
      },
      link: ({ traceparent }) => void (traceparent && recorded.links.push(traceparent)),
      end() {},
    }
    const tracing = {
      begin(_: string, { parent }: SpanOptions) {
        recorded.parent = parent && 'traceparent' in parent ? parent.traceparent : null
        return span
      },
      within: (_: Span, task: () => unknown) => task(),
    } as unknown as Tracing
    const isTrusted = async (authorization: string) => authorization === 'Bearer of-a-server'
    const trace = createRequestTracer(
      tracing,
      () => '/send',
      () => false,
      isTrusted,
    )
    const get = (name: string) => headers[name] ?? ''
    const ctx = { path: '/send', method: 'POST', status: 200, state: { requestId }, get }
    await trace(ctx as unknown as Context, async () => {})
    return recorded
  }

  it('continues the trace of a caller that is trusted, and is linked to that of any other', async () => {
    const trusted = { traceparent: CALLER, authorization: 'Bearer of-a-server' }
    expect(await traceFor(trusted)).to.deep.include({ parent: CALLER, links: [] })
    for (const stranger of [{ traceparent: CALLER }, { traceparent: CALLER, authorization: 'Bearer of-a-device' }])
      expect(await traceFor(stranger)).to.deep.include({ parent: null, links: [CALLER] })
    expect(await traceFor({ authorization: 'Bearer of-a-server' })).to.deep.include({ parent: null, links: [] })
  })

  it('has the request id as the log has it: without what looks like a recipient or a key', async () => {
    const recordedId = async (requestId: string) => (await traceFor({}, requestId)).id
    for (const own of ['signup-4711', '0b8f6d0e-3c1b-4b53-9a3c-2f6f1f0c7a11'])
      expect(await recordedId(own)).to.equal(own)
    expect(await recordedId('14155557321')).to.equal('[number]')
    expect(await recordedId('sk_live_0123456789abcdef')).to.equal('[key]')
  })
})
