// An app and a company are deleted over HTTP, 30 days after they were closed, while messages and events of theirs still wait. What waits ends
// quietly, and neither the store nor the files of an embedded one have anything of them but the ledger, the audit log and their names.
import { expect } from 'chai'
import { DAY_MS } from '../../infra/time.ts'
import { attemptMessage, drainMessage } from '../../services/domain/webhooks/queue-messages.ts'
import { DELETE_AFTER_MS } from '../../services/sweeper/deletions.ts'
import { createBrowser, createVisitor } from '../support/dashboard-session.ts'
import { CACHE_TTL_MS, type Flow, freshNumber, startFlow, type Tenant } from '../support/flow.ts'
import { collectionsContaining, dataFiles, rawDocuments } from '../support/raw-documents.ts'
import { type AnswerRequest, type Receiver, startReceiver } from '../support/receiver.ts'
import { onEachEngineSet } from '../support/site.ts'

/** What is kept: the books, who did what, and the name. */
const KEPT = ['audit', 'deletions', 'ledger']
/** The endpoint's address stands in the audit log; its answers belong to the app. */
const ANSWER = 'thank you, said the endpoint of the app'
const OLD_MS = 31 * DAY_MS

onEachEngineSet('what is deleted', engines => {
  let flow: Flow
  before(async () => {
    flow = await startFlow({ engines, env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
    await flow.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: 100 }] })
  })
  after(() => flow?.stop())
  const opened: Receiver[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))
  const openEndpoint = async (answer: AnswerRequest): Promise<Receiver> => {
    const endpoint = await startReceiver(answer)
    opened.push(endpoint)
    return endpoint
  }

  const store = () => flow.countersign.engines.store

  /** As if time had passed. A test cannot wait for thirty days: the engines would purge what it looks for. */
  async function closeLongAgo(path: string): Promise<void> {
    expect((await flow.admin('PATCH', path, { closed: true })).status).to.equal(200)
    await flow.advance(CACHE_TTL_MS)
    const [, collection = '', id = ''] = path.split('/')
    const $set = { closed_at: flow.clock.now() - OLD_MS }
    await store()
      .docs(collection as 'apps' | 'companies')
      .modify({ _id: id }, { $set })
  }

  /** Waits until the sweeper has deleted it. */
  async function whenDeleted(id: string): Promise<void> {
    await flow.advance(DELETE_AFTER_MS)
    await flow.eventually(async () =>
      expect([...(await store().docs('deletions').get([id])).keys()]).to.deep.equal([id]),
    )
  }

  /** An app that has done something of everything: ids that must not be found again. */
  async function busyApp(tenant: Tenant, port: number): Promise<string[]> {
    const { app, company, server, device } = tenant
    await flow.admin('POST', `/companies/${company}/credit`, { micros: 1_000, note: 'a transfer' })
    await flow.admin('PUT', `/apps/${app}/providers/box`, { channel: 'sms', type: 'sandbox', config: {} })
    const addEndpoint = (name: string) =>
      flow.admin('POST', `/apps/${app}/endpoints`, { name, url: `http://127.0.0.1:${port}/${name}` })
    const [first, second] = [await addEndpoint('first'), await addEndpoint('second')]
    expect([first.status, second.status]).to.deep.equal([201, 201])
    const live = await flow.createKey(app, 'server', 'live')
    await flow.advance(CACHE_TTL_MS)
    const [paid, again] = [freshNumber(), freshNumber()]
    expect((await live.send(paid)).status).to.equal(200)
    await flow.waitForCode(paid)
    const { body } = await server.send(again, {
      idempotency: 'sign up',
      client_ip: '81.2.69.142',
      metadata: { plan: 'x' },
    })
    const code = await flow.waitForCode(again)
    expect((await server.verify(body.otp_id, code)).body.matched).to.equal(true)
    await device.send(freshNumber(), { forwarded: '81.2.69.142' })
    expect((await server.send('+1')).status).to.equal(422)
    await flow.eventually(async () => {
      const attempts = (await flow.events(app)).flatMap(one => one.attempts)
      expect(attempts.length).to.be.at.least(4)
      for (const { status, response } of attempts) expect([status, response]).to.deep.equal([200, ANSWER])
    })
    const ofApp = { app_id: app }
    const events = await store()
      .docs('events')
      .find(ofApp, { sort: { _id: 1 }, limit: 100 })
    const sealed = events.flatMap(({ attempts }) => attempts.flatMap(({ sealed_response }) => sealed_response ?? []))
    const [key] = await store()
      .docs('keys')
      .find(ofApp, { sort: { _id: 1 }, limit: 1 })
    expect(sealed.length).to.be.at.least(4)
    return [body.otp_id, events[0]?._id ?? 'none', sealed[0] ?? 'none', key?.hash ?? 'none', first.body.id]
  }

  async function expectNothingOf(id: string, traces: readonly string[]): Promise<void> {
    const found = (await collectionsContaining(store(), id)).filter(name => name !== 'erasures')
    expect(found.filter(name => !KEPT.includes(name))).to.deep.equal([])
    for (const trace of traces) {
      // The audit log names the endpoint.
      const holding = (await collectionsContaining(store(), trace)).filter(name => name !== 'audit')
      expect(holding, trace).to.deep.equal([])
    }
    if (engines !== 'embedded') return
    for (const bytes of await dataFiles(flow.countersign.config.dataDir))
      for (const trace of traces.filter(one => !one.startsWith('whk_')))
        expect(bytes.includes(trace), `${trace} in a file`).to.equal(false)
  }

  it('leaves nothing of an app, and all of another one of its company', async () => {
    const endpoint = await openEndpoint((_, response) => void response.end(ANSWER))
    const shop = await flow.createTenant()
    const blog = await flow.createTenant({}, shop.company)
    const { otp_id } = await flow.startVerification(blog.server)
    const traces = await busyApp(shop, endpoint.port)
    expect((await collectionsContaining(store(), shop.app)).length).to.be.at.least(10)
    const month = new Date(flow.clock.now()).toISOString().slice(0, 7)

    await closeLongAgo(`/apps/${shop.app}`)
    expect((await flow.admin('DELETE', `/apps/${shop.app}`)).status).to.equal(204)
    expect((await flow.admin('GET', `/apps/${shop.app}`)).status).to.equal(404)
    expect((await shop.server.send(freshNumber())).status).to.equal(401)
    await whenDeleted(shop.app)
    await flow.eventually(() => expectNothingOf(shop.app, traces))

    const { body } = await flow.admin('GET', `/companies/${shop.company}/statement?month=${month}`)
    expect(body.rows).to.have.length(1)
    expect(body.rows[0]).to.include({ app_id: shop.app, app_name: 'Shop', charged_micros: -100 })
    const apps = (await flow.admin('GET', `/companies/${shop.company}/apps`)).body.items
    expect(apps.map(({ id }: { id: string }) => id)).to.deep.equal([blog.app])
    expect((await blog.server.status(otp_id)).status).to.equal(200)
    expect((await flow.startVerification(blog.server)).code).to.match(/^\d{6}$/)
  })

  it('ends what still waits: events that are not delivered yet, and what queues still have of it', async () => {
    let answer = 500
    const endpoint = await openEndpoint((_, response) => void response.writeHead(answer).end())
    const { app, server } = await flow.createTenant()
    await flow.admin('PUT', `/apps/${app}/webhook`, { url: `http://127.0.0.1:${endpoint.port}/hooks` })
    await flow.advance(CACHE_TTL_MS)
    const { otp_id } = await flow.startVerification(server)
    await flow.eventually(() => expect(endpoint.received.length).to.be.at.least(1))
    const [event] = (await flow.admin('GET', `/apps/${app}/events`)).body.items
    const [stored] = (await store().docs('otps').get([otp_id])).values()
    const delivery_id = stored?.context.deliveries[0]?.delivery_id ?? 'none'
    await closeLongAgo(`/apps/${app}`)
    expect((await flow.admin('DELETE', `/apps/${app}`)).status).to.equal(204)
    await whenDeleted(app)
    answer = 200
    const before = endpoint.received.length
    const { broker } = flow.countersign.engines
    const at = flow.clock.now()
    await broker.publish(
      'webhook.deliver',
      attemptMessage({ event_id: event.id, app_id: app, round: 1, attempt: 2, at }),
    )
    await broker.publish('webhook.deliver', drainMessage({ app_id: app }, at))
    await broker.publish('channel.sms', { id: delivery_id, body: { otp_id, delivery_id, generation: 0 } })
    await broker.publish('otp.reports', {
      id: `${delivery_id}:late`,
      body: { type: 'delivery.reported', otp_id, delivery_id, status: 'delivered', at },
    })
    await flow.advance(10_000)
    const queues = ['webhook.deliver', 'channel.sms', 'otp.reports'] as const
    for (const queue of queues)
      await flow.eventually(async () => expect(await broker.depth(queue)).to.include({ ready: 0 }))
    await flow.eventually(() => expectNothingOf(app, [otp_id, event.id]))
    expect(endpoint.received.length).to.equal(before)
    for (const queue of queues) {
      const { items } = (await flow.admin('GET', `/queues/${queue}/dead`)).body
      expect(items, `dead letters of ${queue}`).to.deep.equal([])
    }
  })

  it('takes a company with its people: they sign in to the others, or get no code', async () => {
    const { company, app, server } = await flow.createTenant()
    const { otp_id } = await flow.startVerification(server)
    const other = await flow.createTenant()
    let browsers = 0
    const enter = (body: object, visitor = createVisitor(flow.countersign.url)) => {
      browsers += 1
      return flow.advanceUntil(visitor.enter(body, { 'X-Forwarded-For': `5.2.0.${browsers}` }))
    }
    const signIn = async (email: string, messages: number) => {
      const visitor = createVisitor(flow.countersign.url)
      await enter({ email }, visitor)
      const signedIn = await enter({ email, code: await flow.waitForCode(email, messages) }, visitor)
      expect(signedIn.status, signedIn.text).to.equal(200)
      return createBrowser(flow.countersign.url, signedIn)
    }
    const join = async (email: string, ...companies: string[]) => {
      const ids: string[] = []
      for (const id of companies)
        ids.push((await flow.admin('POST', `/companies/${id}/users`, { email, role: 'owner', name: 'Ada' })).body.id)
      const browser = await signIn(email, 1)
      for (const id of ids) expect((await browser.ask('POST', `/invitations/${id}/accept`)).body.role).to.equal('owner')
      return browser
    }
    await join('both@shop.example', company, other.company)
    const alone = await join('alone@shop.example', company)

    await closeLongAgo(`/companies/${company}`)
    expect((await flow.admin('DELETE', `/companies/${company}`)).status).to.equal(204)
    expect((await alone.ask('GET', '/me')).status).to.equal(401)
    await flow.advance(60_000)
    expect((await signIn('both@shop.example', 2)).me).to.include({ company_id: other.company, role: 'owner' })
    expect((await enter({ email: 'alone@shop.example' })).body.next, 'told nothing').to.equal('code')
    await flow.advance(5_000)
    expect(await flow.inbox('alone@shop.example')).to.have.length(1)

    await whenDeleted(company)
    const { broker } = flow.countersign.engines
    const late = { company_id: company, otp_id, delivery_id: 'dlv_late', micros: 100 }
    await broker.publish('otp.reports', { id: 'refund:late', body: { type: 'delivery.refunded', ...late } })
    await flow.advance(10_000)
    await flow.eventually(async () => expect(await broker.depth('otp.reports')).to.include({ ready: 0 }))
    expect((await flow.admin('GET', '/queues/otp.reports/dead')).body.items).to.deep.equal([])
    expect(flow.countersign.log.lines().filter(({ msg }) => msg === 'report.failed')).to.deep.equal([])
    await flow.eventually(async () => {
      await expectNothingOf(company, [otp_id])
      await expectNothingOf(app, [otp_id])
    })
    expect((await rawDocuments(store(), 'users')).filter(one => one.includes(company))).to.deep.equal([])
    expect((await flow.admin('GET', `/companies/${company}/ledger`)).status).to.equal(200)
  })
})
