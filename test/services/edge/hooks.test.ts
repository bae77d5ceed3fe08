// How long a login waits for what it hands over. That what it hands over is delivered is in test/flow/hooks.test.ts.
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { standardSignature } from '../../../services/domain/webhooks/standard-signature.ts'
import { HOOK_SECRET, KEYS, startTestEdge, type TestEdge, view } from '../../support/edge.ts'

const APP = 'app_shop'

describe('a login that waits for five seconds', () => {
  let edge: TestEdge
  beforeEach(async () => {
    edge = await startTestEdge()
  })
  afterEach(() => edge.close())

  const body = JSON.stringify({
    metadata: { uuid: randomUUID() },
    user: { email: 'ada@example.com', new_email: 'eda@example.com' },
    email_data: { token: '111111', token_new: '222222', email_action_type: 'email_change' },
  })
  async function handOver(): Promise<{ status: number; body: { error?: { http_code: number } } }> {
    const request = { id: randomUUID(), timestamp: String(Math.floor(edge.clock.now() / 1000)), body }
    const response = await edge.request(`/hooks/supabase/${APP}`, {
      method: 'POST',
      headers: {
        'webhook-id': request.id,
        'webhook-timestamp': request.timestamp,
        'webhook-signature': `v1,${standardSignature(HOOK_SECRET, request)}`,
      },
      body,
    })
    return { status: response.status, body: (await response.json()) as { error?: { http_code: number } } }
  }
  const takes = (ms: number) => {
    edge.stubs.answer = async () => {
      await edge.clock.advance(ms)
      return { kind: 'verification', verification: view() }
    }
  }

  it('has its call executed within four, all messages of it together', async () => {
    takes(1_500)
    expect(await handOver()).to.deep.equal({ status: 200, body: {} })
    expect(edge.calls.map(({ budgetMs }) => budgetMs)).to.deep.equal([4_000, 2_500])
  })

  it('gets no message for which its time is up', async () => {
    takes(4_000)
    expect((await handOver()).body.error).to.include({ http_code: 503 })
    expect(edge.calls).to.have.length(1)
  })

  it('is another than one that does not', async () => {
    const response = await edge.request(`/hooks/kratos/${APP}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEYS.serverTest}` },
      body: JSON.stringify({ recipient: '+447911123456', template_data: { login_code: '048273' } }),
    })
    expect(response.status).to.equal(200)
    expect(edge.calls.map(({ budgetMs }) => budgetMs)).to.deep.equal([5_000])
  })
})
