import { expect } from 'chai'
import { type Countersign, createStarter } from '../support/countersign.ts'
import { ECHO } from '../support/echo.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { type MongoBehindProxy, openMongoBehindProxy } from '../support/mongo.ts'
import { openRabbitBehindProxy } from '../support/rabbitmq.ts'

const TIMEOUT_MS = 30_000

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
    return { status: response.status, body: await response.json() }
  }
  const expectReadiness = (url: string, status: number, parts: Record<string, string>) =>
    eventually(async () => {
      const answer = await get(`${url}/readyz`)
      expect(answer.status).to.equal(status)
      expect(answer.body).to.deep.nested.include({ parts: { ...ALL_UP, ...parts } })
    }, TIMEOUT_MS)

  it('stays alive but is not ready without MongoDB, and becomes ready again with it', async () => {
    const { url } = await startBehindProxies()
    mongo.proxy.refuse()
    await expectReadiness(url, 503, { store: 'down' })
    expect((await get(`${url}/healthz`)).status).to.equal(200)
    mongo.proxy.heal()
    await expectReadiness(url, 200, {})
    expect((await get(`${url}/companies/cmp_none`)).body).to.deep.equal({})
  })

  it('stays alive but is not ready without RabbitMQ, and becomes ready and consumes again with it', async () => {
    const { url } = await startBehindProxies()
    rabbit.proxy.refuse()
    await expectReadiness(url, 503, { broker: 'down', consumers: 'down' })
    expect((await get(`${url}/healthz`)).status).to.equal(200)
    expect((await get(`${url}/echo/hello`)).status).to.equal(503)
    rabbit.proxy.heal()
    await expectReadiness(url, 200, {})
    expect((await get(`${url}/echo/hello`)).body).to.deep.equal({ echoed: { word: 'hello' } })
  })

  it('reports a MongoDB that does not answer as down, without hanging itself', async () => {
    const { url } = await startBehindProxies()
    mongo.proxy.stall()
    await expectReadiness(url, 503, { store: 'down' })
    mongo.proxy.heal()
    await expectReadiness(url, 200, {})
  })

  it('can be stopped without its engines', async () => {
    const { url, stop } = await startBehindProxies()
    mongo.proxy.refuse()
    rabbit.proxy.refuse()
    await expectReadiness(url, 503, { store: 'down', broker: 'down', consumers: 'down' })
    await stop()
  })
})

const ALL_UP = { process: 'up', store: 'up', broker: 'up', consumers: 'up' }
