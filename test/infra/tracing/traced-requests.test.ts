import { expect } from 'chai'
import type { Context } from 'koa'
import { createRequestTracer } from '../../../infra/http/traced-requests.ts'
import type { Attributes, Span, Tracing } from '../../../infra/tracing/tracing.ts'

describe('the span of a request', () => {
  /** The request id that is recorded for the given one. */
  async function recordedId(requestId: string): Promise<unknown> {
    let recorded: Attributes = {}
    const span: Pick<Span, 'trace' | 'rename' | 'set' | 'end'> = {
      trace: request_id => ({ request_id, traceparent: null }),
      rename() {},
      set(attributes) {
        recorded = attributes
      },
      end() {},
    }
    const tracing = { begin: () => span, within: (_: Span, task: () => unknown) => task() } as unknown as Tracing
    const trace = createRequestTracer(
      tracing,
      () => '/send',
      () => false,
    )
    const ctx = { path: '/send', method: 'POST', status: 200, state: { requestId }, get: () => '' }
    await trace(ctx as unknown as Context, async () => {})
    return recorded['countersign.request_id']
  }

  it('has the request id as the log has it: without what looks like a recipient or a key', async () => {
    for (const own of ['signup-4711', '0b8f6d0e-3c1b-4b53-9a3c-2f6f1f0c7a11'])
      expect(await recordedId(own)).to.equal(own)
    expect(await recordedId('14155557321')).to.equal('[number]')
    expect(await recordedId('sk_live_0123456789abcdef')).to.equal('[key]')
  })
})
