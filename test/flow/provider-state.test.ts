// What operators see of a provider: the state of its circuit breaker, and a test with a real call.
import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { describeLiveFlowOnce, type LiveFlow } from '../support/live-flow.ts'
import { collectionsContaining } from '../support/raw-documents.ts'
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

  it('its breaker: closed, open after failures, and closed again once a message went through', async () => {
    const { app, server, gateway, path } = await open()
    expect(await breaker(path)).to.equal(null)
    await server.send(freshNumber())
    await live.eventually(async () => expect(await breaker(path)).to.include({ state: 'closed', processes: 1 }))

    gateway.always({ fault: { kind: 'broken' } })
    for (let nth = 0; nth < 12; nth += 1) await server.send(freshNumber())
    const shut = await live.eventually(async () => {
      const shown = await breaker(path)
      expect(shown).to.include({ state: 'open', processes: 1 })
      return shown
    })
    const health = async () => (await live.admin('GET', `/apps/${app}/health`)).body.causes
    const cause = { cause: 'provider_open', channel: 'sms', provider: 'gate', reason: null, since: shut.since }
    expect(await health()).to.deep.equal([cause])
    expect(Date.parse(shut.since)).to.be.within(live.clock.now() - 30_000, live.clock.now())

    gateway.always({})
    await live.advance(30_000)
    const { body } = await server.send(freshNumber())
    await live.waitForDeliveries(server, body.otp_id, 'sms sent')
    await live.eventually(async () => expect(await breaker(path)).to.include({ state: 'closed', processes: 1 }))
    expect(await health()).to.deep.equal([])
  })

  it('a test: the message that the vendor got, and nothing that is left of it', async () => {
    const { app, gateway, path, server } = await open()
    const to = freshNumber()
    const { status, body } = await test(path, to)
    expect(status).to.equal(200)
    expect(body).to.include({ outcome: 'accepted', http_status: 202, vendor_code: null, vendor_text: null })
    expect(body.ms).to.be.a('number')
    expect(gateway.messages).to.have.length(1)
    const sent = gateway.messages[0]?.requestBody
    expect(sent?.recipient).to.equal(to)
    const [code] = /\d{8}/.exec(String(sent?.text)) ?? []
    expect(code).to.be.a('string')
    const { engines, log } = live.countersign
    expect(await engines.store.docs('otps').count({ app_id: app, mode: 'live' })).to.equal(0)
    for (const text of [to.slice(1), String(code), String(sent?.delivery_id)]) {
      expect(await collectionsContaining(engines.store, text)).to.deep.equal([])
      if (text !== sent?.delivery_id) expect(log.output()).not.to.include(text)
    }
    const verified = await server.send(to)
    expect(verified.status, 'a later send of the same number').to.equal(200)
    await live.waitForDeliveries(server, verified.body.otp_id, 'sms sent')
    expect(gateway.messages[1]?.requestBody.text, 'with a code of its own').to.match(/(?<!\d)\d{8}(?!\d)/)
  })

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
