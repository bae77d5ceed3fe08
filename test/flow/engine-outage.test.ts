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

  it('stays alive but is not ready while MongoDB is away or silent, and becomes ready again with it', async () => {
    const { url } = await startBehindProxies()
    for (const disturb of [mongo.proxy.refuse, mongo.proxy.stall]) {
      disturb()
      await expectReadiness(url, { store: NO_MONGODB })
      expect((await get(`${url}/healthz`)).status).to.equal(200)
      mongo.proxy.heal()
      await expectReadiness(url, {})
    }
  })

  it('stays alive but is not ready while RabbitMQ is away or silent, and consumes again with it', async () => {
    const { url, engines } = await startBehindProxies()
    const echo = async () => (await get(`${url}/echo/hello`)).status
    rabbit.proxy.refuse()
    await expectReadiness(url, { broker: 'not connected', consumers: '0 of 1 attached' })
    expect((await get(`${url}/healthz`)).status).to.equal(200)
    expect(await echo()).to.equal(503)
    rabbit.proxy.heal()
    await expectReadiness(url, {})
    expect(await echo()).to.equal(200)
    rabbit.proxy.stall()
    await expectReadiness(url, { broker: NO_RABBITMQ })
    expect(engines.broker.state(), 'no heartbeat is missing yet').to.equal('up')
    rabbit.proxy.heal()
    await expectReadiness(url, {})
    expect(await echo()).to.equal(200)
  })

  it('can be stopped without its engines', async () => {
    const { url, stop } = await startBehindProxies()
    mongo.proxy.refuse()
    rabbit.proxy.refuse()
    await expectReadiness(url, { store: NO_MONGODB, broker: 'not connected', consumers: '0 of 1 attached' })
    await stop()
  })
})
