import { expect } from 'chai'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { eachStore } from '../../../support/stores.ts'

const DEFAULT_EVENTS = ['otp.approved', 'otp.failed', 'delivery.delivered', 'delivery.failed']

eachStore('the endpoints of an app', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin)).app
  })
  afterEach(closeAdmins)

  const create = async (body: object = {}) => {
    await admin.clock.advance(1)
    return admin.ask('POST', `/apps/${app}/endpoints`, { url: 'https://shop.example/hooks', ...body })
  }
  const list = async () => (await admin.get(`/apps/${app}/endpoints`)).body.items
  const ids = async () => (await list()).map(({ id }: { id: string }) => id)
  const webhook = async () => (await admin.get(`/apps/${app}/webhook`)).body
  const actions = async () =>
    (await admin.get('/audit')).body.items.map(({ action, target }: { action: string; target: string }) => [
      action,
      target,
    ])

  it('are added with what they ask for, and a secret that is shown once', async () => {
    const plain = await create()
    expect(plain.status).to.equal(201)
    expect(plain.body).to.deep.include({ name: null, events: DEFAULT_EVENTS, payload: 'minimal', status: 'active' })
    expect(plain.body.id).to.equal(app.replace('app_', 'whk_'))
    const wanted = { name: 'CRM', events: ['otp.expired', 'ops.balance_low'], payload: 'full' }
    const { secret, ...crm } = (await create({ ...wanted, url: 'https://crm.example/' })).body
    expect(crm).to.deep.include({ ...wanted, app_id: app, url: 'https://crm.example/' })
    expect(crm.id).to.match(/^whk_[0-9a-z]{26}$/)
    expect(secret).to.match(/^whsec_/)
    expect((await admin.get(`/endpoints/${crm.id}`)).body).to.deep.equal(crm)
    expect(await list()).to.deep.equal([
      { ...(await webhook()), waiting: 0 },
      { ...crm, waiting: 0 },
    ])
    expect(await actions()).to.deep.include.members([
      ['webhook.create', crm.id],
      ['webhook.create', app],
    ])
  })

  it('that are paused are causes of the health of the app, each by its id', async () => {
    await create()
    const { id } = (await create({ name: 'CRM', url: 'https://crm.example/', status: 'paused' })).body
    expect((await admin.get(`/apps/${app}/health`)).body.causes).to.deep.include({
      cause: 'endpoint_paused',
      channel: null,
      provider: null,
      endpoint: { id, name: 'CRM', url: 'https://crm.example/' },
      reason: 'operator',
      since: new Date(admin.clock.now()).toISOString(),
    })
  })

  it('are ten at most, also when many are added at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create()))
    expect(answers.map(({ status }) => status).filter(status => status === 201).length).to.be.at.most(10)
    while ((await list()).length < 10) expect((await create()).status).to.equal(201)
    const refused = await create()
    expect([refused.status, refused.body.detail]).to.deep.equal([409, 'An app has at most 10 endpoints.'])
    expect(await list()).to.have.length(10)
    await admin.ask('DELETE', `/endpoints/${(await ids())[4]}`)
    expect((await create()).status).to.equal(201)
    expect(await list()).to.have.length(10)
  })

  it('are changed member by member', async () => {
    await create()
    const { id } = (await create({ name: 'CRM', payload: 'full' })).body
    const patch = (body: object) => admin.ask('PATCH', `/endpoints/${id}`, body)
    expect((await patch({ events: ['otp.canceled'] })).body).to.deep.include({
      name: 'CRM',
      events: ['otp.canceled'],
      payload: 'full',
    })
    const changed = (await patch({ name: null, payload: 'minimal', status: 'paused' })).body
    expect(changed).to.deep.include({ name: null, payload: 'minimal', status: 'paused', events: ['otp.canceled'] })
    expect((await admin.ask('POST', `/endpoints/${id}/enable`)).body.status).to.equal('active')
    expect((await webhook()).status).to.equal('active')
  })

  it('have secrets of their own', async () => {
    await create()
    const { id } = (await create()).body
    const rotated = (await admin.ask('POST', `/endpoints/${id}/rotate`)).body
    expect(rotated.secrets.map(({ state }: { state: string }) => state)).to.deep.equal(['current', 'next'])
    const promoted = (await admin.ask('POST', `/endpoints/${id}/promote`)).body
    expect(promoted.secrets.map(({ state }: { state: string }) => state)).to.deep.equal(['current', 'old'])
    expect((await webhook()).secrets).to.have.length(1)
  })

  it('leave the app without the deleted one: the next oldest is its webhook', async () => {
    const [first, second, third] = [(await create()).body, (await create()).body, (await create()).body]
    expect((await webhook()).id).to.equal(first.id)
    expect((await admin.ask('DELETE', `/endpoints/${first.id}`)).status).to.equal(204)
    expect((await webhook()).id).to.equal(second.id)
    expect((await admin.ask('PUT', `/apps/${app}/webhook`, { url: 'https://new.example/' })).status).to.equal(200)
    expect((await admin.get(`/endpoints/${second.id}`)).body.url).to.equal('https://new.example/')
    for (const { id } of [second, third]) await admin.ask('DELETE', `/endpoints/${id}`)
    expect((await admin.get(`/apps/${app}/webhook`)).status).to.equal(404)
    expect((await admin.ask('PUT', `/apps/${app}/webhook`, { url: 'https://again.example/' })).status).to.equal(201)
    expect(await list()).to.have.length(1)
    expect((await actions()).filter(([action]: string[]) => action === 'webhook.delete')).to.have.length(3)
  })

  it('get test events and replays one by one', async () => {
    await create()
    const { id } = (await create()).body
    const { event_id } = (await admin.ask('POST', `/endpoints/${id}/test`)).body
    const { deliveries } = (await admin.get(`/events/${event_id}`)).body
    expect(deliveries.map((one: { endpoint_id: string }) => one.endpoint_id)).to.deep.equal([id])
    const replayed = await admin.ask('POST', `/events/${event_id}/replay`, { endpoint_id: (await webhook()).id })
    expect(replayed.body.deliveries.map((one: { endpoint_id: string }) => one.endpoint_id)).to.deep.equal([
      (await webhook()).id,
      id,
    ])
    const listed = (await admin.get(`/apps/${app}/events?endpoint_id=${id}`)).body.items
    expect(listed).to.have.length(1)
    expect((await list())[1].waiting).to.equal(1)
    const other = (await createTenant(admin)).app
    const foreign = (await admin.ask('POST', `/apps/${other}/endpoints`, { url: 'https://other.example/' })).body.id
    expect((await admin.ask('POST', `/events/${event_id}/replay`, { endpoint_id: foreign })).status).to.equal(404)
    expect((await admin.get(`/apps/${app}/events?endpoint_id=${foreign}`)).status).to.equal(404)
  })
})
