import { expect } from 'chai'
import { type Answer, closeAdmins, createTenant, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { type GivenFact, storeFacts } from '../../support/route-facts.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const SANDBOX = { type: 'sandbox', channel: 'sms' }

interface Row {
  channel: string
  country: string | null
  provider: string
  messages: number
  approved: number
  conversion: number
  low: number
  high: number
  share: number
  state: string
  because: string
}

onEmbeddedStore('the routes of an app', fresh => {
  let admin: TestAdmin
  let app: string
  beforeEach(async () => {
    admin = await startAdmin(await fresh())
    app = (await createTenant(admin)).app
    for (const name of ['main', 'fast']) await put(name)
  })
  afterEach(closeAdmins)

  const put = (name: string, more: object = {}) =>
    admin.ask('PUT', `/apps/${app}/providers/${name}`, { ...SANDBOX, ...more })
  const known = (...facts: GivenFact[]) => storeFacts(admin.store, app, admin.clock.now(), facts)
  const set = (routing: object) => admin.ask('PATCH', `/apps/${app}`, { settings: { routing } })
  const routes = async (query = '?country=GB'): Promise<{ rows: Row[]; suggestion: Answer['body'] }> => {
    const { status, body } = await admin.get(`/apps/${app}/routes${query}`)
    expect(status, JSON.stringify(body)).to.equal(200)
    return { rows: body.items, suggestion: body.suggestion }
  }
  const row = async (name: string): Promise<Row> => {
    const found = (await routes()).rows.find(({ provider }) => provider === name)
    if (!found) throw new Error(`there is no row of ${name}`)
    return found
  }
  const sharesOf = (rows: readonly Row[]) => rows.map(({ provider, share }) => `${provider} ${share}`)

  it('show what is known of each provider, with an interval, its cost, its share and a reason', async () => {
    await put('fast', { cost_micros: { GB: 42_000, '*': 60_000 } })
    await known(
      { provider: 'main', messages: 400, approved: 240, delivered: 390 },
      { provider: 'fast', messages: 100, approved: 81, seconds_p50: 9 },
    )
    const { rows } = await routes()
    const common = { channel: 'sms', country: 'GB', state: 'ok' }
    const [main, fast] = rows
    expect(main).to.deep.include({
      ...common,
      provider: 'main',
      messages: 400,
      delivered: 390,
      approved: 240,
      share: 1,
    })
    expect(main).to.deep.include({ seconds_p50: 14, cost_micros: null, because: 'It is the first in the list.' })
    expect(fast).to.deep.include({ ...common, provider: 'fast', messages: 100, delivered: 100, approved: 81, share: 0 })
    expect(fast).to.deep.include({
      seconds_p50: 9,
      cost_micros: 42_000,
      because: 'It is number 2 in the list, and gets what the ones before it cannot send.',
    })
    for (const { low, high, conversion, approved, messages } of rows) {
      expect(conversion).to.be.closeTo(approved / messages, 0.02)
      expect(low).to.be.lessThan(conversion)
      expect(high).to.be.greaterThan(conversion)
    }
  })

  it('are those of every country that was sent to, the most used first, and none for what is gone', async () => {
    await put('local', { countries: ['BR'] })
    await known(
      { provider: 'main', country: 'GB', messages: 10 },
      { provider: 'main', country: 'BR', messages: 90 },
      { provider: 'deleted', country: 'BR', messages: 5 },
      { provider: 'main', country: null, messages: 1 },
    )
    const { rows } = await routes('')
    expect(rows.map(({ country, provider, messages }) => [country, provider, messages])).to.deep.equal([
      ['BR', 'main', 90],
      ['BR', 'fast', 0],
      ['BR', 'local', 0],
      ['GB', 'main', 10],
      ['GB', 'fast', 0],
      [null, 'main', 1],
      [null, 'fast', 0],
      [null, 'local', 0],
    ])
    expect(rows[1]).to.deep.include({ conversion: null, low: null, high: null, seconds_p50: null })
  })

  it('of a country that nothing was sent to have the providers that would serve it', async () => {
    const { rows, suggestion } = await routes()
    expect(sharesOf(rows)).to.deep.equal(['main 1', 'fast 0'])
    expect(suggestion).to.equal(null)
    expect((await routes('')).rows).to.deep.equal([])
  })

  it('add up what servers and devices sent, and are silent where one of both is', async () => {
    await known(
      { provider: 'main', messages: 100, approved: 80 },
      { provider: 'main', kind: 'publishable', messages: 300, approved: 0, silentSince: 5 },
      { provider: 'fast', kind: 'publishable', messages: 100, approved: 70 },
    )
    const { rows } = await routes()
    expect(rows[0]).to.deep.include({ messages: 400, approved: 80, state: 'silent' })
    // Servers, a fifth of the messages, still use it; of the messages of devices 2 % test it.
    expect(rows[0]?.share).to.be.closeTo(0.2 + 0.8 * 0.02, 0.001)
    expect(rows[1]?.share).to.be.closeTo(0.8 * 0.98, 0.001)
    expect(rows[0]?.because).to.equal(
      'For servers: It is the first in the list. For devices: It accepts messages, but hardly anyone types the code. It stands behind the others, and comes first for 2 % of the messages to notice when it recovers.',
    )
    expect(rows[1]?.because).to.equal(
      'For servers: It is number 2 in the list, and gets what the ones before it cannot send. For devices: It comes first, because the ones listed before it are silent.',
    )
    await known({ provider: 'main', messages: 400, approved: 8, silentSince: 5 })
    await put('fast', { paused: true })
    expect((await row('main')).because).to.contain('There is no other to take over.')
  })

  it('are a cause of the health of the app while they are silent', async () => {
    const causes = async () => (await admin.get(`/apps/${app}/health`)).body.causes
    const silent = { provider: 'main', approved: 0 }
    await known(
      { ...silent, country: 'BR', silentSince: admin.clock.now() - 1_000 },
      { ...silent, country: 'GB', silentSince: admin.clock.now() - 5_000 },
      { ...silent, country: 'US', approved: 300 },
      { ...silent, provider: 'deleted', silentSince: 5 },
    )
    const isSilent = ({ cause }: { cause: string }): boolean => cause === 'provider_silent'
    expect((await causes()).filter(isSilent)).to.deep.equal([
      {
        cause: 'provider_silent',
        channel: 'sms',
        provider: 'main',
        countries: ['BR', 'GB'],
        reason: null,
        since: new Date(admin.clock.now() - 5_000).toISOString(),
      },
    ])
    await put('main', { paused: true })
    expect((await causes()).filter(isSilent), 'of a paused one').to.deep.equal([])
  })

  it('have no share while a breaker is open', async () => {
    const report = { app_id: app, provider: 'main', process: 'p', state: 'open' as const, since: 1 }
    const [valid_until, purge_at] = [admin.clock.now() + 60_000, new Date(admin.clock.now() + 60_000)]
    await admin.store.docs('breakers').insert([{ _id: 'b', ...report, valid_until, purge_at }])
    expect(await row('main')).to.deep.include({ state: 'open', share: 0 })
    await set({ providers: 'best' })
    await known({ provider: 'main', messages: 400, approved: 320 }, { provider: 'fast', messages: 400, approved: 200 })
    expect((await row('fast')).because).to.match(
      /It comes first for 100 % of the messages, because a better one cannot/,
    )
    await known(
      { provider: 'main', messages: 400, approved: 320 },
      { provider: 'fast', messages: 400, approved: 200, silentSince: 5 },
    )
    expect((await row('fast')).because).to.match(
      /hardly anyone types the code\. It comes first for 100 % .* all the same/,
    )
    expect((await row('fast')).share).to.equal(1)
  })

  it('leave out a provider whose type this release does not know, because it sends nothing', async () => {
    await put('third')
    await known(
      { provider: 'main', messages: 400, approved: 8, silentSince: 5 },
      { provider: 'fast', messages: 400, approved: 200 },
      { provider: 'third', messages: 400, approved: 320 },
    )
    const report = { app_id: app, provider: 'main', process: 'p', state: 'open' as const, since: 1 }
    const [valid_until, purge_at] = [admin.clock.now() + 60_000, new Date(admin.clock.now() + 60_000)]
    await admin.store.docs('breakers').insert([{ _id: 'b', ...report, valid_until, purge_at }])
    await admin.store.docs('providers').modify({ _id: `${app}:main` }, { $set: { type: 'pigeon' } })
    const { rows, suggestion } = await routes()
    expect(sharesOf(rows)).to.deep.equal(['fast 1', 'third 0'])
    expect(suggestion.order).to.deep.equal(['third', 'fast'])
    const { causes } = (await admin.get(`/apps/${app}/health`)).body
    expect(causes.filter(({ provider }: { provider: string | null }) => provider === 'main')).to.deep.equal([])
  })

  it('decide which provider the explanation of a send names', async () => {
    await known(
      { provider: 'main', messages: 400, approved: 200 },
      { provider: 'fast', messages: 400, approved: 320 },
      { provider: 'main', kind: 'publishable', messages: 400, approved: 8, silentSince: 5 },
    )
    const named = async (kind: string) => {
      const { body } = await admin.ask('POST', `/apps/${app}/route`, { recipient: '+447400123456', kind })
      return [body.country, body.channels[0].provider]
    }
    expect(await named('server')).to.deep.equal(['GB', 'main'])
    expect(await named('publishable'), 'main is silent for devices').to.deep.equal(['GB', 'fast'])
    await set({ providers: 'best' })
    expect(await named('server')).to.deep.equal(['GB', 'fast'])
  })

  it('suggest a better order of the list, with its gain', async () => {
    await put('mail', { channel: 'email' })
    await known({ provider: 'main', messages: 400, approved: 200 }, { provider: 'fast', messages: 400, approved: 320 })
    const { suggestion } = await routes()
    expect(suggestion).to.deep.include({ channel: 'sms', order: ['fast', 'main'] })
    expect(suggestion.gain).to.be.closeTo(0.3, 0.01)
    expect(suggestion).to.include({ approvals: suggestion.gain, cost_micros: null })
    expect(suggestion.because).to.match(
      /^In GB, fast converts 80 % \(7\d to 8\d %\); main converts 50 % \(4\d to 5\d %\)\.$/,
    )
    await put('fast', { position: 0 })
    expect((await routes()).suggestion, 'once it is used').to.equal(null)
  })

  it('suggest a cheaper order for its worth, and tell the change in approvals and in cost apart', async () => {
    await set({ worth_micros: 100_000 })
    await put('main', { cost_micros: { '*': 50_000 } })
    await put('fast', { cost_micros: { '*': 1_000, US: 71_000 } })
    await put('third', { cost_micros: { '*': 90_000 } })
    const gb: GivenFact[] = [
      { provider: 'main', messages: 500, approved: 450 },
      { provider: 'fast', messages: 500, approved: 400 },
    ]
    await known(...gb)
    const { suggestion } = await routes()
    expect(suggestion.order).to.deep.equal(['fast', 'main', 'third'])
    expect(suggestion.gain).to.be.closeTo(0.39, 0.003)
    expect(suggestion.approvals).to.be.closeTo(-0.1, 0.003)
    expect(suggestion.cost_micros).to.equal(-49_000)
    expect(suggestion.because).to.match(
      /^In GB, fast converts 80 % \(.*\), less 1 % for its cost; main converts 90 % \(.*\), less 50 % for its cost\.$/,
    )

    // By the messages of each country: in the US it costs more.
    const us = gb.map(fact => ({ ...fact, country: 'US', messages: 125, approved: 100 }))
    await known(...gb, ...us)
    const over = (await routes('')).suggestion
    expect(over.cost_micros).to.equal(-0.8 * 49_000 + 0.2 * 21_000)
    expect(over.gain).to.be.closeTo(over.approvals - over.cost_micros / 100_000, 0.002)

    // Cost counts in the other country only.
    await put('third', { cost_micros: { GB: 90_000 } })
    const partly = (await routes('')).suggestion
    expect(partly.cost_micros).to.equal(-0.8 * 49_000)
    expect(partly.gain).to.be.closeTo(partly.approvals - partly.cost_micros / 100_000, 0.002)
    expect(partly.because).to.contain(
      'for its cost. Cost counts only in the countries where that of every provider is known, which is not so in all of them.',
    )
    await put('third', { cost_micros: {} })
    expect((await routes('')).suggestion, 'where it counts nowhere, the better one stays first').to.equal(null)
  })

  it('suggest no place before a provider that was not compared, because it is silent or paused', async () => {
    await put('third')
    const others: GivenFact[] = [
      { provider: 'fast', messages: 100, approved: 50 },
      { provider: 'third', messages: 100, approved: 75 },
    ]
    const order = async () => (await routes()).suggestion?.order
    await known({ provider: 'main', messages: 1_000, approved: 900 }, ...others)
    expect(await order()).to.equal(undefined)
    await known({ provider: 'main', messages: 1_000, approved: 900, silentSince: 5 }, ...others)
    expect(await order()).to.deep.equal(['main', 'third', 'fast'])
    await known({ provider: 'main', messages: 1_000, approved: 900 }, ...others)
    await put('main', { paused: true })
    expect(await order()).to.deep.equal(['main', 'third', 'fast'])
  })

  it('suggest no order by which other countries lose more', async () => {
    await known(
      { provider: 'main', country: 'GB', messages: 200, approved: 100 },
      { provider: 'fast', country: 'GB', messages: 200, approved: 160 },
      { provider: 'main', country: 'US', messages: 4_000, approved: 3_200 },
      { provider: 'fast', country: 'US', messages: 400, approved: 200 },
    )
    expect((await routes()).suggestion).to.equal(null)
    expect((await routes('')).suggestion).to.equal(null)
    await known(
      { provider: 'main', country: 'GB', messages: 200, approved: 100 },
      { provider: 'fast', country: 'GB', messages: 200, approved: 160 },
      { provider: 'main', country: 'US', messages: 200, approved: 160 },
      { provider: 'fast', country: 'US', messages: 200, approved: 160 },
    )
    const { suggestion } = await routes('')
    expect(suggestion.gain).to.be.closeTo(0.15, 0.01)
    expect((await routes('?country=US')).suggestion, 'by the evidence of the US').to.equal(null)
  })
})
