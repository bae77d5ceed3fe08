// What operators see of a provider: the state of its circuit breaker, and a test with a real call.
import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { describeLiveFlowOnce, type LiveFlow } from '../support/live-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

const SECRET = 'authorization of a test gateway'

async function openShop(live: LiveFlow) {
  const gateway = await startHttpGateway({ ...live.vendorOptions, authorization: SECRET })
  const config = { url: gateway.url, headers: { authorization: SECRET } }
  const limits = { app_without_client_ip: [{ max: 10_000, seconds: 60 }] }
  const settings = { routing: { default: ['sms'] }, limits, code: { length: 8 } }
  const shop = await live.createApp([{ name: 'gate', channel: 'sms', type: 'http', config }], settings)
  return { ...shop, gateway, path: `/apps/${shop.app}/providers/gate` }
}

describeLiveFlowOnce('what operators see of a provider', live => {
  const opened: HttpGateway[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))
  const open = async () => {
    const shop = await openShop(live)
    opened.push(shop.gateway)
    return shop
  }
  const breaker = async (path: string) => (await live.admin('GET', path)).body.breaker
  const test = (path: string, recipient: string) => live.advanceUntil(live.admin('POST', `${path}/test`, { recipient }))

  it('tests, which neither open the breaker, nor close it, nor count', async () => {
    const { server, gateway, path } = await open()
    gateway.always({ fault: { kind: 'broken' } })
    for (let nth = 0; nth < 9; nth += 1)
      expect((await test(path, freshNumber())).body).to.include({ outcome: 'refused', http_status: 500 })
    expect(await breaker(path)).to.equal(null)
    for (let nth = 0; nth < 12; nth += 1) await server.send(freshNumber())
    await live.eventually(async () => expect(await breaker(path)).to.include({ state: 'open' }))
    gateway.always({})
    expect((await test(path, freshNumber())).body).to.include({ outcome: 'accepted' })
    expect(await breaker(path)).to.include({ state: 'open' })
  })
})
