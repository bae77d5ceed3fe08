import { expect } from 'chai'
import type { Check } from '../../infra/http/health.ts'
import { type Countersign, createStarter } from '../support/countersign.ts'
import { ECHO } from '../support/echo.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type MongoBehindProxy, openMongoBehindProxy } from '../support/mongo.ts'
import { openRabbitBehindProxy } from '../support/rabbitmq.ts'

const NO_MONGODB = 'MongoDB does not answer'
const NO_RABBITMQ = 'RabbitMQ does not answer'

onRealEngines('a process that loses its engines', { AMQP_URL, MONGODB_URL }, () => {
  let mongo: MongoBehindProxy
  let rabbit: Awaited<ReturnType<typeof openRabbitBehindProxy>>
  beforeEach(async () => {
    mongo = await openMongoBehindProxy()
    rabbit = await openRabbitBehindProxy()
  })
  const start = createStarter('real')
  afterEach(() => Promise.all([mongo.close(), rabbit.proxy.close()]))

  const startBehindProxies = (): Promise<Countersign> =>
    start({ services: ECHO, env: { MONGODB_URL: mongo.url, AMQP_URL: rabbit.url } })
  const get = async (url: string) => {
    const response = await fetch(url)
    return { status: response.status, body: (await response.json()) as { checks?: Check[] } }
  }
  /** Waits until exactly these checks fail, for these reasons. */
  const expectReadiness = (url: string, failing: Record<string, string>) =>
    eventually(async () => {
      const { status, body } = await get(`${url}/readyz`)
      const failed = body.checks?.filter(({ ok }) => !ok).map(({ name, detail }) => [name, detail]) ?? []
      expect(Object.fromEntries(failed)).to.deep.equal(failing)
      expect(status).to.equal(failed.length > 0 ? 503 : 200)
    })

  it('stays alive but is not ready without MongoDB, and becomes ready again with it', async () => {
    const { url } = await startBehindProxies()
    mongo.proxy.refuse()
    await expectReadiness(url, { store: NO_MONGODB })
    expect((await get(`${url}/healthz`)).status).to.equal(200)
    mongo.proxy.heal()
    await expectReadiness(url, {})
    expect((await get(`${url}/companies/cmp_none`)).body).to.deep.equal({})
  })

  it('stays alive but is not ready without RabbitMQ, and becomes ready and consumes again with it', async () => {
    const { url } = await startBehindProxies()
    rabbit.proxy.refuse()
    await expectReadiness(url, { broker: 'not connected', consumers: '0 of 1 attached' })
    expect((await get(`${url}/healthz`)).status).to.equal(200)
    expect((await get(`${url}/echo/hello`)).status).to.equal(503)
    rabbit.proxy.heal()
    await expectReadiness(url, {})
    expect((await get(`${url}/echo/hello`)).body).to.deep.equal({ echoed: { word: 'hello' } })
  })

  it('is not ready while MongoDB does not answer, and ready again after it', async () => {
    const { url } = await startBehindProxies()
    mongo.proxy.stall()
    await expectReadiness(url, { store: NO_MONGODB })
    mongo.proxy.heal()
    await expectReadiness(url, {})
  })

  it('is not ready while RabbitMQ does not answer, before a heartbeat is missing, and ready again after it', async () => {
    const { url, engines } = await startBehindProxies()
    rabbit.proxy.stall()
    await expectReadiness(url, { broker: NO_RABBITMQ })
    expect(engines.broker.state(), 'no heartbeat is missing yet').to.equal('up')
    rabbit.proxy.heal()
    await expectReadiness(url, {})
    expect((await get(`${url}/echo/hello`)).status).to.equal(200)
  })

  it('can be stopped without its engines', async () => {
    const { url, stop } = await startBehindProxies()
    mongo.proxy.refuse()
    rabbit.proxy.refuse()
    await expectReadiness(url, { store: NO_MONGODB, broker: 'not connected', consumers: '0 of 1 attached' })
    await stop()
  })
})
