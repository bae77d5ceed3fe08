// One company floods the edge while the OTP actor is held up. It gets half of the places; the others are left for other companies, whose
// sends are answered as soon as the actor answers again.
import { expect } from 'chai'
import type { ReceivedCall } from '../../infra/broker/broker.ts'
import type { OtpCall } from '../../machines/calls.ts'
import type { Engines } from '../../services/main.ts'
import { type Answer, refusal } from '../support/api-caller.ts'
import { eventually } from '../support/eventually.ts'
import { type Flow, freshNumber, startFlow } from '../support/flow.ts'
import { onEachEngineSet } from '../support/site.ts'

const MAX_IN_FLIGHT = 20
const FLOOD = 4 * MAX_IN_FLIGHT
const PLENTY = [{ max: 100_000, seconds: 60 }]

/** Holds up every call to the OTP actor until it is released. */
function createHoldUp() {
  let release = (): void => {}
  let gate = Promise.resolve()
  const waiting: string[] = []
  return {
    /** The companies of the calls that are held up. */
    waiting,
    hold(): void {
      gate = new Promise(resolve => {
        release = resolve
      })
    },
    release: () => release(),
    decorate: ({ broker, store }: Engines): Engines => ({
      store,
      broker: {
        ...broker,
        serve: (queue, answer, flow) =>
          broker.serve(
            queue,
            async (calls: ReceivedCall[]) => {
              waiting.push(...calls.map(({ body }) => (body as OtpCall).by.company_id))
              await gate
              return answer(calls)
            },
            flow,
          ),
      },
    }),
  }
}

onEachEngineSet('a company that floods the edge', engines => {
  let flow: Flow
  const actor = createHoldUp()
  before(async () => {
    flow = await startFlow({ engines, env: { MAX_IN_FLIGHT: String(MAX_IN_FLIGHT) }, decorate: actor.decorate })
  })
  after(async () => {
    actor.release()
    await flow.stop()
  })

  it('holds half of its places at most, and the sends of another company are answered', async () => {
    const [flooding, other] = [
      await flow.createTenant({ limits: { app_without_client_ip: PLENTY } }),
      await flow.createTenant(),
    ]
    actor.hold()
    actor.waiting.length = 0
    const answers: Answer[] = []
    const flood = Array.from({ length: FLOOD }, async () => {
      answers.push(await flooding.server.send(freshNumber()))
    })
    const half = MAX_IN_FLIGHT / 2
    await eventually(async () => {
      // So many refusals may wait for their answers, and a clock that stands still would keep them waiting.
      await flow.advance(10)
      expect(answers).to.have.length(FLOOD - half)
    })
    for (const answer of answers) {
      expect(refusal(answer)).to.deep.include({ type: 'ServiceUnavailableError', status: 503 })
      expect(answer.headers.get('retry-after')).to.equal('1')
    }
    const sent = other.server.send(freshNumber())
    await eventually(() => expect(actor.waiting).to.include(other.company))
    expect(actor.waiting.filter(company => company === flooding.company)).to.have.length(half)
    const refused = await flow.advanceUntil(flooding.server.send(freshNumber()))
    expect(refused.status, 'still').to.equal(503)
    expect(refused.headers.get('content-type')).to.equal('application/problem+json')
    expect(refused.headers.get('cache-control')).to.equal('no-store')
    expect(refused.body).to.deep.equal({
      type: 'ServiceUnavailableError',
      title: 'The service cannot answer now',
      status: 503,
      detail: 'Too many requests of this company are waiting. Nothing was executed.',
      request_id: refused.headers.get('x-request-id'),
      doc_url: '/docs/errors#error-ServiceUnavailableError',
      executed: false,
    })

    actor.release()
    expect((await sent).status).to.equal(200)
    await Promise.all(flood)
    expect(answers.filter(({ status }) => status === 200)).to.have.length(half)
    expect((await flooding.server.send(freshNumber())).status, 'afterwards').to.equal(200)
  })
})
