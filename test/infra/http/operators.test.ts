import { expect } from 'chai'
import { createMetricsRouter } from '../../../infra/http/metrics.ts'
import { createIdentifyOperator } from '../../../infra/http/operators.ts'
import { Problem } from '../../../infra/http/problem.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { shellServers } from '../../support/http-shell.ts'

const ann = { name: 'ann', token: 'token-of-ann' }
const bob = { name: 'bob', token: 'token-of-bob' }

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }

describe('operators', () => {
  const holder = createIdentifyOperator([ann, bob])

  it('are known by their token, each by name', () => {
    expect(holder('Bearer token-of-ann')).to.equal('ann')
    expect(holder('bearer  token-of-bob')).to.equal('bob')
  })

  for (const given of [
    undefined,
    '',
    'token-of-ann',
    'Bearer',
    'Bearer ',
    'Bearer token-of-an',
    'Bearer token-of-annn',
    'Bearer TOKEN-OF-ANN',
    'Bearer token-of-ann token-of-bob',
    'Basic token-of-ann',
  ])
    it(`are not those who say ${JSON.stringify(given)}`, () => {
      expect(() => holder(given))
        .to.throw(Problem)
        .that.deep.includes({ status: 401, extras: { detail: "An operator's token is needed.", headers: CHALLENGE } })
    })

  it('do not exist where no token is set', () => {
    expect(() => createIdentifyOperator([])('Bearer ')).to.throw(Problem)
  })

  it('are all looked at, whichever it is, so that the time taken tells nothing', () => {
    const looked: string[] = []
    const watched = [ann, bob].map(({ name, token }) => ({
      name,
      get token() {
        looked.push(name)
        return token
      },
    }))
    for (const given of ['Bearer token-of-ann', 'Bearer token-of-bob']) createIdentifyOperator(watched)(given)
    expect(looked).to.deep.equal(['ann', 'bob', 'ann', 'bob'])
  })
})

describe('/metrics', () => {
  const door = shellServers()

  it('needs an operator on the public port', async () => {
    const { ask } = await door(createMetricsRouter(createMetrics(), createIdentifyOperator([ann, bob])))
    const refused = await ask('/metrics')
    expect(refused.status).to.equal(401)
    expect(refused.headers.get('www-authenticate')).to.equal('Bearer')
    expect(refused.body).to.include({ type: 'HTTPException', status: 401 })
    const { status } = await ask('/metrics', { headers: { Authorization: 'Bearer token-of-bob' } })
    expect(status).to.equal(200)
  })

  it('is open where no operators are named, in the format Prometheus reads', async () => {
    const metrics = createMetrics()
    metrics.brokerMessages.inc({ queue: 'otp.reports', outcome: 'done' })
    const { ask } = await door(createMetricsRouter(metrics))
    const { status, headers, body } = await ask('/metrics')
    expect(status).to.equal(200)
    expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(body).to.contain('countersign_broker_messages_total{queue="otp.reports",outcome="done"} 1')
  })
})
