import { expect } from 'chai'
import { createMetricsRouter } from '../../../infra/http/metrics.ts'
import { createIdentifyOperator } from '../../../infra/http/operators.ts'
import { Problem } from '../../../infra/http/problem.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { useShellServers } from '../../support/http-shell.ts'

const ann = { name: 'ann', token: 'token-of-ann' }
const bob = { name: 'bob', token: 'token-of-bob' }

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }

describe('an operator', () => {
  const identify = createIdentifyOperator([ann, bob])

  it('is identified by the token', () => {
    expect(identify('Bearer token-of-ann')).to.equal('ann')
    expect(identify('bearer  token-of-bob')).to.equal('bob')
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
    it(`is not identified by ${JSON.stringify(given)}`, () => {
      expect(() => identify(given))
        .to.throw(Problem)
        .that.deep.includes({ status: 401, extras: { detail: "An operator's token is needed.", headers: CHALLENGE } })
    })

  it('does not exist where no token is set', () => {
    expect(() => createIdentifyOperator([])('Bearer ')).to.throw(Problem)
  })

  it('is compared with every token, so that the time does not tell which one matches', () => {
    const compared: string[] = []
    const watched = [ann, bob].map(({ name, token }) => ({
      name,
      get token() {
        compared.push(name)
        return token
      },
    }))
    for (const given of ['Bearer token-of-ann', 'Bearer token-of-bob']) createIdentifyOperator(watched)(given)
    expect(compared).to.deep.equal(['ann', 'bob', 'ann', 'bob'])
  })
})

describe('/metrics', () => {
  const startServer = useShellServers()

  it('needs the token of an operator on the public port', async () => {
    const { ask } = await startServer(createMetricsRouter(createMetrics(), createIdentifyOperator([ann, bob])))
    const refused = await ask('/metrics')
    expect(refused.status).to.equal(401)
    expect(refused.headers.get('www-authenticate')).to.equal('Bearer')
    expect(refused.body).to.include({ type: 'HTTPException', status: 401 })
    const { status } = await ask('/metrics', { headers: { Authorization: 'Bearer token-of-bob' } })
    expect(status).to.equal(200)
  })

  it('needs no token where no operators are given, and has the format of Prometheus', async () => {
    const metrics = createMetrics()
    metrics.brokerMessages.inc({ queue: 'otp.reports', outcome: 'done' })
    const { ask } = await startServer(createMetricsRouter(metrics))
    const { status, headers, body } = await ask('/metrics')
    expect(status).to.equal(200)
    expect(headers.get('content-type')).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(body).to.contain('countersign_broker_messages_total{queue="otp.reports",outcome="done"} 1')
  })
})
