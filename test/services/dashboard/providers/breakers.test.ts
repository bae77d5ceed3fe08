import { expect } from 'chai'
import { type BreakerState, breakerId } from '../../../../services/domain/breakers/documents.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const MINUTE = 60_000

onEmbeddedStore('the circuit breaker of a provider', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin)).app
    for (const name of ['main', 'spare'])
      await admin.ask('PUT', `/apps/${app}/providers/${name}`, { type: 'sandbox', channel: 'sms' })
  })
  afterEach(closeAdmins)

  const report = async (
    process: string,
    state: BreakerState,
    { ago = 0, validMs = MINUTE, provider = 'main', app_id = app } = {},
  ) => {
    const now = admin.clock.now()
    const times = { since: now - ago, valid_until: now + validMs, purge_at: new Date(now + validMs) }
    const key = { app_id, provider, process }
    await admin.store.docs('breakers').insert([{ _id: breakerId(key), ...key, state, ...times }])
  }
  const breaker = async (name = 'main') => {
    const one = (await admin.get(`/apps/${app}/providers/${name}`)).body.breaker
    const all = (await admin.get(`/apps/${app}/providers`)).body.items
    expect(all.find((provider: { name: string }) => provider.name === name).breaker).to.deep.equal(one)
    return one
  }
  const at = (ago: number) => new Date(admin.clock.now() - ago).toISOString()

  it('is closed while every process says so', async () => {
    await report('p1', 'closed', { ago: 5_000 })
    await report('p2', 'closed', { ago: 9_000 })
    expect(await breaker()).to.deep.equal({ state: 'closed', since: at(9_000), processes: 2 })
  })

  it('has the worst state of the processes, with how many say so and since when', async () => {
    await report('p1', 'closed', { ago: 60_000 })
    await report('p2', 'half_open', { ago: 3_000 })
    expect(await breaker()).to.deep.equal({ state: 'half_open', since: at(3_000), processes: 1 })
    await report('p3', 'open', { ago: 2_000 })
    await report('p4', 'open', { ago: 8_000 })
    expect(await breaker()).to.deep.equal({ state: 'open', since: at(8_000), processes: 2 })
  })

  it('is not that of another provider or app', async () => {
    await report('p1', 'open', { provider: 'spare' })
    await report('p1', 'open', { app_id: 'app_other' })
    expect(await breaker('main')).to.equal(null)
    expect(await breaker('spare')).to.include({ state: 'open' })
  })

  it('is in the answer to a change too, and is forgotten when its process is dead', async () => {
    await report('p1', 'open')
    const position = { type: 'sandbox', channel: 'sms', position: 4 }
    const { body } = await admin.ask('PUT', `/apps/${app}/providers/main`, position)
    expect(body.breaker).to.include({ state: 'open', processes: 1 })
    await admin.clock.advance(MINUTE)
    expect(await breaker()).to.equal(null)
  })
})
