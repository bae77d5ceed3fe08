// What an operator configures over the admin API takes effect: events arrive signed with the secret that was shown, messages leave
// through the configured provider, and the timeline of a verification shows the provider call.
import { expect } from 'chai'
import { signatureHeaders } from '../../services/domain/webhooks/signed-event.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlowOnce } from '../support/live-flow.ts'
import { type AnswerRequest, type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts'

describeLiveFlowOnce('an operator', live => {
  const servers: Receiver[] = []
  afterEach(async () => {
    await Promise.all(servers.splice(0).map(server => server.close()))
  })
  const startServer = async (answer?: AnswerRequest): Promise<Receiver & { url: string }> => {
    const server = await startReceiver(answer)
    servers.push(server)
    return { ...server, url: `http://127.0.0.1:${server.port}/hooks` }
  }
  const put = async (path: string, body: object) => {
    const answer = await live.admin('PUT', path, body)
    expect([200, 201], answer.text).to.include(answer.status)
    return answer.body
  }
  const post = (path: string, body?: object) => live.admin('POST', path, body)
  const eventIn = ({ body }: ReceivedRequest): { id: string; type: string } => JSON.parse(body.toString())
  /** Waits until events of these types, and no others, have arrived. */
  const expectReceived = (server: Receiver, ...types: string[]) =>
    live.eventually(() => expect(server.received.map(one => eventIn(one).type)).to.deep.equal(types))
  /** Checks that a request is signed with these secrets, the current one first. */
  function expectSigned(request: ReceivedRequest | undefined, secrets: [string, ...string[]]): void {
    if (!request) throw new Error('nothing arrived')
    const at = Number(request.headers['x-webhook-timestamp']) * 1000
    const expected = signatureHeaders({ id: eventIn(request).id, body: request.body, at, secrets })
    expect(request.headers).to.include(expected)
    expect(Math.abs(live.clock.now() - at)).to.be.below(60_000)
  }

  it('tests an endpoint and rotates its secret, and every event is signed with the current secrets', async () => {
    const { app, server } = await live.createTenant()
    const shop = await startServer()
    const { secret: first } = await put(`/apps/${app}/webhook`, { url: shop.url })
    const { event_id } = (await post(`/apps/${app}/webhook/test`)).body
    await expectReceived(shop, 'webhook.test')
    expect(eventIn(shop.received[0] as ReceivedRequest).id).to.equal(event_id)
    expectSigned(shop.received[0], [first])

    const { secret: second } = (await post(`/apps/${app}/webhook/rotate`)).body
    await live.advance(CACHE_TTL_MS)
    await post(`/apps/${app}/webhook/test`)
    await expectReceived(shop, 'webhook.test', 'webhook.test')
    expectSigned(shop.received[1], [first, second])

    expect((await post(`/apps/${app}/webhook/promote`)).status).to.equal(200)
    await live.advance(CACHE_TTL_MS)
    const { otp_id, code } = await live.startVerification(server)
    await live.eventually(async () =>
      expect((await server.status(otp_id)).body.deliveries[0].status).to.equal('delivered'),
    )
    await expectReceived(shop, 'webhook.test', 'webhook.test', 'delivery.delivered')
    await server.verify(otp_id, code)
    await expectReceived(shop, 'webhook.test', 'webhook.test', 'delivery.delivered', 'otp.approved')
    expectSigned(shop.received[3], [second, first])
  })

  it('sees what an endpoint answered, enables it after a pause, and replays events', async () => {
    const { app } = await live.createTenant()
    let status = 410
    const shop = await startServer((_, response) => void response.writeHead(status).end('no thanks'))
    await put(`/apps/${app}/webhook`, { url: shop.url })
    const { event_id } = (await post(`/apps/${app}/webhook/test`)).body
    await live.eventually(async () => {
      const { body } = await live.admin('GET', `/apps/${app}/webhook`)
      expect([body.status, body.paused?.reason]).to.deep.equal(['paused', 'gone'])
    })
    const shown = async () => (await live.admin('GET', `/apps/${app}/events`)).body.items[0]
    // The endpoint is paused before the attempt is written down.
    await live.eventually(async () => expect((await shown()).attempts).to.have.length(1))
    expect((await shown()).attempts[0]).to.include({ attempt: 1, status: 410, error: null, response: 'no thanks' })

    status = 204
    expect((await post(`/apps/${app}/webhook/enable`)).body.status).to.equal('active')
    await live.eventually(async () => expect((await shown()).status).to.equal('delivered'))
    const replayed = await post(`/events/${event_id}/replay`)
    expect(replayed.status, replayed.text).to.equal(200)
    await live.eventually(() => expect(shop.received).to.have.length(3))
    const { created_at } = await shown()
    await live.advance(1)
    const all = await post(`/apps/${app}/events/replay`, { since: created_at })
    expect(all.body).to.deep.equal({ replayed: 1 })
    await live.eventually(() => expect(shop.received).to.have.length(4))
    expect(new Set(shop.received.map(one => eventIn(one).id))).to.deep.equal(new Set([event_id]))
    expect(new Set(shop.received.map(({ body }) => body.toString())).size).to.equal(1)
  })

  it('cannot move the secrets of a provider to another URL, and reads the timeline of a send through it', async () => {
    const { app } = await live.createTenant()
    const [gateway, attacker] = [await startServer(), await startServer()]
    const path = `/apps/${app}/providers/gate`
    const headers = { authorization: 'Bearer s3cret-of-the-gateway' }
    await put(path, { type: 'http', channel: 'sms', config: { url: gateway.url, headers } })
    const moved = await live.admin('PUT', path, { type: 'http', channel: 'sms', config: { url: attacker.url } })
    expect([moved.status, moved.body.errors[0].path]).to.deep.equal([422, 'config.headers'])
    await put(path, { type: 'http', channel: 'sms', config: { url: gateway.url, method: 'PUT' } })
    await live.advance(CACHE_TTL_MS)

    const server = await live.createKey(app, 'server', 'live')
    const to = freshNumber()
    const { otp_id } = (await server.send(to)).body
    await live.eventually(() => expect(gateway.received).to.have.length(1))
    const [request] = gateway.received
    expect([request?.method, request?.headers.authorization]).to.deep.equal(['PUT', headers.authorization])
    expect(JSON.parse(String(request?.body)).recipient).to.equal(to)
    expect(attacker.connections()).to.equal(0)

    const timeline = await live.eventually(async () => {
      const { body, text } = await live.admin('GET', `/verifications/${otp_id}`)
      expect(text).not.to.contain(to)
      const happened = body.timeline.map((entry: { happened: string }) => entry.happened)
      expect(happened).to.include('delivery.sent')
      return body.timeline
    })
    const [call] = timeline.filter((entry: { happened: string }) => entry.happened === 'provider.called')
    expect(call).to.include({ provider: 'gate', round: 1, result: 'accepted' })
    const times = timeline.map(({ at }: { at: string }) => at)
    expect(times).to.deep.equal(times.toSorted())

    expect((await live.admin('DELETE', path)).status).to.equal(204)
    await live.advance(CACHE_TTL_MS)
    expect((await server.send(freshNumber())).body.type).to.equal('NoEnabledChannelError')
  })
})
