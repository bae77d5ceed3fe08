// Webhook events from the call that causes them to the endpoint of a backend, both over HTTP.
import { expect } from 'chai'
import { CACHE_TTL_MS, type Flow, freshNumber, startFlow, type Tenant, wrongCode } from '../support/flow.ts'
import { type ReceivedRequest, type Receiver, startReceiver } from '../support/receiver.ts'
import { itOnceOf, onEachEngineSet } from '../support/site.ts'

onEachEngineSet('webhook events', engines => {
  const itOnce = itOnceOf(engines)
  let flow: Flow
  const servers: Receiver[] = []
  before(async () => {
    flow = await startFlow({ engines, env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
  })
  after(async () => {
    await flow?.stop()
  })
  afterEach(() => Promise.all(servers.splice(0).map(server => server.close())))

  interface Arrival extends ReceivedRequest {
    event: { id: string; type: string; payload: Record<string, string> }
  }
  interface Backend {
    tenant: Tenant
    secret: string
    arrived: Arrival[]
  }

  /** Creates an app, and the backend that gets its events. */
  async function createBackend(settings: object = {}): Promise<Backend> {
    const arrived: Arrival[] = []
    const server = await startReceiver((request, response) => {
      arrived.push({ ...request, event: JSON.parse(request.body.toString()) })
      response.end()
    })
    servers.push(server)
    const tenant = await flow.createTenant(settings)
    const url = `http://127.0.0.1:${server.port}/hooks`
    const { body } = await flow.admin('PUT', `/apps/${tenant.app}/webhook`, { url })
    return { tenant, arrived, secret: body.secret }
  }
  const getEvent = async ({ tenant }: Backend, id: string) =>
    (await flow.admin('GET', `/apps/${tenant.app}/events?limit=100`)).body.items.find(
      (event: { id: string }) => event.id === id,
    )
  const waitForStatus = (to: Backend, id: string, state: string) =>
    flow.eventually(async () => {
      const event = await getEvent(to, id)
      expect(event.status).to.equal(state)
      return event
    })

  it('are sent once for each end of a verification or delivery, exactly as documented', async () => {
    const shop = await createBackend({ verify_attempts: 1 })
    const { server } = shop.tenant
    const approved = await flow.startVerification(server)
    await server.verify(approved.otp_id, approved.code)
    const failed = await flow.startVerification(server)
    await server.verify(failed.otp_id, wrongCode(failed.code))
    const { otp_id: undelivered } = (await server.send('+15005550011')).body
    await flow.eventually(() => expect(shop.arrived).to.have.length(5))
    await flow.advance(2_000)
    expect(shop.arrived, 'no event is sent twice').to.have.length(5)
    const sent = shop.arrived.map(({ event: { type, payload } }) => {
      const { delivery_id, ...rest } = payload
      expect(delivery_id === undefined).to.equal(type.startsWith('otp.'))
      return { type, ...rest }
    })
    expect(sent).to.have.deep.members([
      { type: 'otp.approved', otp_id: approved.otp_id, status: 'approved' },
      { type: 'delivery.delivered', otp_id: approved.otp_id, status: 'delivered' },
      { type: 'otp.failed', otp_id: failed.otp_id, status: 'failed' },
      { type: 'delivery.delivered', otp_id: failed.otp_id, status: 'delivered' },
      { type: 'delivery.failed', otp_id: undelivered, status: 'failed' },
    ])
    for (const { event, headers, method } of shop.arrived) {
      expect(Object.keys(event)).to.deep.equal(['id', 'type', 'payload'])
      expect(event.id, 'a test key started them').to.match(/^evt_test_[0-9a-z]{26}$/)
      expect(headers['webhook-id']).to.equal(event.id)
      expect([method, headers['x-webhook-mode']]).to.deep.equal(['POST', 'test'])
    }
  })

  itOnce('go to every endpoint that asks for them, in full where it asks for that', async () => {
    const [shop, crm] = [await createBackend(), await createBackend()]
    const { url } = (await flow.admin('GET', `/apps/${crm.tenant.app}/webhook`)).body
    const wanted = { url, name: 'CRM', events: ['otp.approved', 'otp.canceled'], payload: 'full' }
    const added = await flow.admin('POST', `/apps/${shop.tenant.app}/endpoints`, wanted)
    expect(added.status).to.equal(201)
    await flow.advance(CACHE_TTL_MS)
    const { server } = shop.tenant
    const approved = await flow.startVerification(server)
    await server.verify(approved.otp_id, approved.code)
    const canceled = await flow.startVerification(server)
    await server.cancel(canceled.otp_id)
    await server.cancel(canceled.otp_id)
    const toEnd = (all: Arrival[]) => all.map(({ event }) => [event.type, event.payload.otp_id])
    await flow.eventually(() =>
      expect(toEnd(crm.arrived)).to.have.deep.members([
        ['otp.approved', approved.otp_id],
        ['otp.canceled', canceled.otp_id],
      ]),
    )
    const approvedTo = ({ arrived }: Backend) => arrived.find(({ event }) => event.type === 'otp.approved')?.event
    const [minimal, full] = [approvedTo(shop), approvedTo(crm)]
    const payload = { otp_id: approved.otp_id, status: 'approved' }
    expect(minimal).to.deep.equal({ id: full?.id, type: 'otp.approved', payload })
    const { created_at, country, ...rest } = full?.payload ?? {}
    expect(rest).to.deep.equal({ otp_id: approved.otp_id, status: 'approved', channel: 'sms' })
    expect(country).to.match(/^[A-Z]{2}$/)
    expect(Date.parse(created_at ?? '')).to.be.within(flow.clock.now() - 60_000, flow.clock.now())
    expect(toEnd(shop.arrived), 'what it did not ask for').not.to.deep.include(['otp.canceled', canceled.otp_id])
  })

  itOnce('carry the metadata in full, until the person is erased, and never in the store', async () => {
    const [shop, crm] = [await createBackend(), await createBackend()]
    const { url } = (await flow.admin('GET', `/apps/${crm.tenant.app}/webhook`)).body
    await flow.admin('POST', `/apps/${shop.tenant.app}/endpoints`, { url, events: ['otp.canceled'], payload: 'full' })
    await flow.advance(CACHE_TTL_MS)
    const { server, app } = shop.tenant
    const [metadata, to] = [{ order: 'A-1042', 'plan.tier': 'gold' }, freshNumber()]
    const { otp_id } = (await server.send(to, { metadata })).body
    await server.cancel(otp_id)
    await flow.eventually(() => expect(crm.arrived).to.have.length(1))
    const [first] = crm.arrived
    const replayed = async (): Promise<Arrival | undefined> => {
      const count = crm.arrived.length
      const { status } = await flow.admin('POST', `/events/${first?.event.id}/replay`)
      expect(status).to.equal(200)
      await flow.eventually(() => expect(crm.arrived).to.have.length(count + 1))
      return crm.arrived.at(-1)
    }
    expect(first?.event.payload).to.deep.include({ otp_id, metadata })
    expect(shop.arrived.map(({ body }) => String(body)).join()).to.not.contain('A-1042')
    expect(String((await replayed())?.body)).to.equal(String(first?.body))
    const [event] = await flow.events(app)
    expect(JSON.stringify(event)).to.not.contain('A-1042')
    expect((await flow.admin('POST', `/apps/${app}/erase`, { recipient: to })).status).to.equal(200)
    expect((await replayed())?.event.payload).to.not.have.property('metadata')
  })

  // It sets the clock forward, so it comes last.
  itOnce('of expiry are sent once, where an endpoint asks, and never after another end', async () => {
    const shop = await createBackend()
    const { id } = (await flow.admin('GET', `/apps/${shop.tenant.app}/webhook`)).body
    await flow.admin('PATCH', `/endpoints/${id}`, { events: ['otp.approved', 'otp.expired'] })
    await flow.advance(CACHE_TTL_MS)
    const { server } = shop.tenant
    const [approved, expired] = [await flow.startVerification(server), await flow.startVerification(server)]
    await server.verify(approved.otp_id, approved.code)
    const ends = () => shop.arrived.map(({ event }) => [event.type, event.payload.otp_id])
    const expected = [
      ['otp.approved', approved.otp_id],
      ['otp.expired', expired.otp_id],
    ]
    /** Their answers too: a call that is not answered when the clock is set forward has timed out, and is made again. */
    async function waitForEnds(count: number): Promise<void> {
      await flow.eventually(() => expect(ends()).to.deep.equal(expected.slice(0, count)))
      await waitForStatus(shop, shop.arrived.at(-1)?.event.id ?? '', 'delivered')
    }
    await waitForEnds(1)
    await flow.advance(10 * 60_000 + 1)
    await waitForEnds(2)
    await flow.advance(5 * 60_000)
    expect(ends()).to.deep.equal(expected)
  })
})
