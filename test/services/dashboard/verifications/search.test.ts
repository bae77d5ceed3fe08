// The search over all apps. As a property: for any caller, filters and sizes of pages, the pages together are the verifications that the
// caller may see and the filters match, newest first, each once, even when a page ends early because it has read enough.
import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../../infra/ids.ts'
import { CHANNELS, type Channel } from '../../../../machines/channels.ts'
import type { OtpStatus } from '../../../../machines/otp.ts'
import { createReadFilteredPage } from '../../../../services/dashboard/pages.ts'
import { createSearch, type Search } from '../../../../services/dashboard/verifications/search.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { CLAIM_HELD_MS, MAX_AGE_OF_TAKEN_OVER_ID_MS } from '../../../../services/domain/verifications/claim-holds.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { recipientIndexes } from '../../../../services/domain/verifications/lookup-indexes.ts'
import { claimOf } from '../../../../services/edge/calls.ts'
import { closeAdmins, createTenant, errorPaths, startAdmin, type TestAdmin } from '../../../support/admin-api.ts'
import { testClock } from '../../../support/clock.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { issued } from '../../../support/otp.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { documentOf } from '../../../support/queued-otps.ts'
import { eachStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const NUMBER = '+447911123456'
const RECIPIENTS = [NUMBER, '+15005550010', 'ann@example.com']
const COUNTRIES = ['GB', 'US', null]
const STORED: OtpStatus[] = ['pending', 'approved', 'canceled']
/** In one company more apps than are merged, in another some, in a third few. */
const APPS = [
  ...Array.from({ length: 201 }, (_, nth) => ({ company_id: 'cmp_most', app_id: `app_x${nth}` })),
  ...Array.from({ length: 40 }, (_, nth) => ({ company_id: 'cmp_many', app_id: `app_m${nth}` })),
  { company_id: 'cmp_few', app_id: 'app_f1' },
  { company_id: 'cmp_few', app_id: 'app_f2' },
]
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DOCS = 800

interface Row {
  app: number
  mode: 'live' | 'test'
  recipient: string
  /** Under the current data key, or under the one before. */
  key: 0 | 1
  country: string | null
  channel: Channel
  value: OtpStatus
  ago: number
}

const row: fc.Arbitrary<Row> = fc.record({
  app: fc.nat(APPS.length - 1),
  mode: fc.constantFrom('live', 'test'),
  recipient: fc.constantFrom(...RECIPIENTS),
  key: fc.constantFrom(0, 1),
  country: fc.constantFrom(...COUNTRIES),
  channel: fc.constantFrom(...CHANNELS),
  value: fc.constantFrom(...STORED),
  // Many at the same time, so that ids differ in their random part only. A code is valid for ten minutes.
  ago: fc.nat(60).map(minutes => minutes * MINUTE_MS),
})

const search: fc.Arbitrary<Search> = fc.record(
  {
    app_id: fc.constantFrom('app_m0', 'app_m39', 'app_f1'),
    recipient: fc.constantFrom(...RECIPIENTS, '+447911999999'),
    status: fc.constantFrom('pending', 'approved', 'expired', 'canceled', 'failed'),
    channel: fc.constantFrom(...CHANNELS),
    country: fc.constantFrom('GB', 'US', 'DE'),
    since: fc.nat(60),
    until: fc.nat(60),
  },
  { requiredKeys: [] },
)

eachStore('a search over all apps', fresh => {
  const clock = testClock()
  const keyring = testKeyring(1, 3)

  function document({ app, mode, recipient, key, country, channel, value, ago }: Row): OtpDoc {
    const { company_id, app_id } = APPS[app] ?? { company_id: '', app_id: '' }
    const at = clock.now() - ago
    const index = recipientIndexes(keyring, { app_id, mode }, recipient)[key] ?? ''
    const otp_id = newId('otp', at)
    const whom = { kind: 'phone', sealed: 'sealed', index, masked: 'masked', country } as const
    const saved = issued({ at, otp_id, company_id, app_id, mode, link: null, channel, recipient: whom })
    return documentOf({ ...saved, value }, at)
  }

  async function fillStore() {
    const store = await fresh()
    await store.docs('apps').insert(
      APPS.map(({ company_id, app_id }) => ({
        _id: app_id,
        company_id,
        name: 'Shop',
        settings: {},
        created_at: 0,
        rev: 1,
      })),
    )
    const rows = fc.sample(row, DOCS)
    const docs = rows.map(document)
    await store.docs('otps').insert(docs)
    const newestFirst = docs
      .map((doc, at) => ({ doc, row: rows[at] as Row }))
      .sort((a, b) => (a.doc._id < b.doc._id ? 1 : -1))
    return { store, newestFirst }
  }

  const statusOf = ({ value, ago }: Row): OtpStatus =>
    value === 'pending' && ago >= 10 * MINUTE_MS ? 'expired' : value

  it('gives every matching verification that the caller may see once, over pages of any size', async () => {
    const { store, newestFirst } = await fillStore()
    const createListing = createSearch({ store, keyring, clock })
    const property = async (company_id: string | null, wanted: Search, limit: number, maxDocsRead: number) => {
      const { since, until, app_id } = wanted
      const times = {
        ...(since === undefined ? {} : { since: clock.now() - since * MINUTE_MS }),
        ...(until === undefined ? {} : { until: clock.now() - until * MINUTE_MS }),
      }
      const asked: Search = { ...wanted, ...times }
      const companyOf = (id: string) => APPS.find(app => app.app_id === id)?.company_id
      fc.pre(app_id === undefined || company_id === null || companyOf(app_id) === company_id)
      const expected = newestFirst
        .filter(
          ({ doc, row: { recipient, channel, country } }) =>
            (company_id === null || doc.company_id === company_id) &&
            (app_id === undefined || doc.app_id === app_id) &&
            (wanted.recipient === undefined || wanted.recipient === recipient) &&
            (wanted.channel === undefined || wanted.channel === channel) &&
            (wanted.country === undefined || wanted.country === country),
        )
        .filter(({ row: one }) => wanted.status === undefined || statusOf(one) === wanted.status)
        .filter(({ doc }) => asked.since === undefined || doc.created_at >= asked.since)
        .filter(({ doc }) => asked.until === undefined || doc.created_at < asked.until)
        .map(({ doc }) => doc._id)

      const readPage = createReadFilteredPage({ keyring, clock }, maxDocsRead)
      const request = { state: { principal: { name: 'ada', role: 'viewer', company_id } }, path: '/x', query: {} }
      const found: string[] = []
      let cursor: string | undefined
      for (let pages = 0; pages <= DOCS; pages += 1) {
        const listing = await createListing(request, asked)
        // Not even read: a page ends early when it has read enough, which would tell how much others send.
        const matches = (doc: OtpDoc): boolean => {
          if (company_id !== null) expect(doc.company_id).to.equal(company_id)
          return listing.matches(doc)
        }
        const page = await readPage(request, { ...listing, matches, show: ({ _id }: OtpDoc) => _id }, { limit, cursor })
        expect(page.items.length).to.be.at.most(limit)
        found.push(...page.items)
        if (page.next_cursor === null) break
        cursor = page.next_cursor
      }
      expect(found).to.deep.equal(expected)
    }
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(null, 'cmp_most', 'cmp_many', 'cmp_few', 'cmp_none'),
        search,
        fc.integer({ min: 1, max: 60 }),
        fc.constantFrom(7, 60, 1_000),
        property,
      ),
      { numRuns: propertyRuns(50) },
    )
  })

  it('ends a page that takes long, with what was found, and goes on from there', async () => {
    const { store, newestFirst } = await fillStore()
    // Every look at the clock takes a millisecond.
    let now = clock.now()
    const slowClock = { now: () => now++ }
    const readPage = createReadFilteredPage({ keyring, clock: slowClock })
    const request = { state: { principal: { name: 'ada', role: 'operator', company_id: null } }, path: '/x', query: {} }
    const found: string[] = []
    let pages = 0
    for (let cursor: string | undefined; ; pages += 1) {
      const listing = await createSearch({ store, keyring, clock })(request, { country: 'GB' })
      const page = await readPage(request, { ...listing, show: doc => doc._id }, { limit: 100, cursor })
      found.push(...page.items)
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    expect(pages).to.be.at.least(10)
    expect(found).to.deep.equal(
      newestFirst.filter(({ row: { country } }) => country === 'GB').map(({ doc }) => doc._id),
    )
  })

  it('finds a recipient with many verifications in one app, and the few in the others', async () => {
    const { store } = await fillStore()
    const many = Array.from({ length: 250 }, () =>
      document({ ...(fc.sample(row, 1)[0] as Row), app: 3, mode: 'test', recipient: 'eve@example.com', ago: HOUR_MS }),
    )
    const few = [7, 41].map(app =>
      document({ ...(fc.sample(row, 1)[0] as Row), app, recipient: 'eve@example.com', ago: 2 * HOUR_MS }),
    )
    await store.docs('otps').insert([...many, ...few])
    const request = { state: { principal: { name: 'ada', role: 'operator', company_id: null } }, path: '/x', query: {} }
    const listing = await createSearch({ store, keyring, clock })(request, { recipient: 'Eve@example.com' })
    const found = await createReadFilteredPage({ keyring, clock })(
      request,
      { ...listing, show: doc => doc._id },
      { limit: 300 },
    )
    expect(found.items).to.have.members([...many, ...few].map(({ _id }) => _id))
    expect(found.items).to.have.length(252)
    expect(found.next_cursor).to.equal(null)
  })
})

eachStore('GET /verifications', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  let actor: TestActor
  beforeEach(async () => {
    store = await fresh()
    actor = await startOtpActor(store)
    admin = await startAdmin(store, { clock: actor.clock })
  })
  afterEach(async () => {
    await closeAdmins()
    await actor.close()
  })

  const ids = async (path: string): Promise<string[]> =>
    (await admin.get(path)).body.items.map(({ otp_id }: { otp_id: string }) => otp_id)

  async function sendToTwoApps() {
    const [shop, bank] = [await createTenant(admin), await createTenant(admin)]
    const inShop = (await actor.send({ ...shop, recipient: NUMBER })).otp_id
    await actor.clock.advance(1_000)
    const inBank = (await actor.send({ ...bank, recipient: NUMBER })).otp_id
    await actor.clock.advance(1_000)
    const toAnn = (await actor.send({ ...bank, recipient: 'ann@example.com' })).otp_id
    return { shop, bank, inShop, inBank, toAnn }
  }

  it('finds a recipient in all apps at once, with the same items as the list of an app', async () => {
    const { shop, inShop, inBank, toAnn } = await sendToTwoApps()
    expect(await ids('/verifications')).to.deep.equal([toAnn, inBank, inShop])
    expect(await ids(`/verifications?recipient=${encodeURIComponent(NUMBER)}`)).to.deep.equal([inBank, inShop])
    // A plus that was not escaped arrives as a space.
    expect(await ids(`/verifications?recipient=${NUMBER}`)).to.deep.equal([inBank, inShop])
    const [item] = (await admin.get(`/verifications?app_id=${shop.app}`)).body.items
    expect(item).to.deep.equal((await admin.get(`/apps/${shop.app}/verifications`)).body.items[0])
    const { timeline: _, ...whole } = (await admin.get(`/verifications/${inShop}`)).body
    expect(item).to.deep.equal(whole)
  })

  it('finds one value of metadata in all apps that the caller may see, over pages, and takes one name only', async () => {
    const [shop, bank] = [await createTenant(admin), await createTenant(admin)]
    const metadata = { order: 'A-1', tier: 'gold' }
    const found: string[] = []
    for (const owner of [shop, bank, shop]) {
      found.unshift((await actor.send({ ...owner, recipient: NUMBER, metadata })).otp_id)
      await actor.send({ ...owner, recipient: NUMBER, metadata: { order: 'gold' } })
      await actor.clock.advance(1_000)
    }
    const [third, second, first] = found
    expect(await ids('/verifications?metadata.order=A-1')).to.deep.equal(found)
    expect(await ids('/verifications?metadata.tier=gold')).to.deep.equal(found)
    expect(await ids(`/apps/${shop.app}/verifications?metadata.order=A-1`)).to.deep.equal([third, first])
    expect(await ids(`/verifications?metadata.order=A-1&otp_id=${second}`)).to.deep.equal([second])
    expect(await ids(`/verifications?metadata.order=A-2&otp_id=${second}`)).to.deep.equal([])
    expect(await ids('/verifications?metadata.order=A-1&status=approved')).to.deep.equal([])
    expect(await ids('/verifications?metadata.tier=A-1')).to.deep.equal([])
    const { items, next_cursor } = (await admin.get('/verifications?metadata.order=A-1&limit=1')).body
    expect(items[0].otp_id).to.equal(third)
    const rest = await ids(`/verifications?metadata.order=A-1&limit=2&cursor=${encodeURIComponent(next_cursor)}`)
    expect(rest).to.deep.equal([second, first])
  })

  it('by a value of metadata is in the audit log, with the name and a fingerprint of the value', async () => {
    const shop = await createTenant(admin)
    for (const value of ['secret-1', 'secret-1', 'secret-2']) {
      await admin.get(`/apps/${shop.app}/verifications?metadata.order=${value}`)
      await actor.clock.advance(1_000)
    }
    const items: { action: string; target: string; after: unknown }[] = (
      await admin.get(`/audit?company_id=${shop.company}`)
    ).body.items
    expect(JSON.stringify(items)).not.to.include('secret-')
    const lookups = items.filter(({ action }) => action === 'recipient.look_up')
    expect(lookups.map(({ target }) => target)).to.deep.equal([shop.app, shop.app, shop.app])
    const [other, again, first] = lookups.map(
      ({ after }) => after as { list: string; metadata: { name: string; value: string } },
    )
    expect(first?.list).to.equal('verifications')
    expect(first?.metadata.name).to.equal('order')
    expect(first?.metadata.value).to.match(/^[\w-]{16}$/)
    expect(again).to.deep.equal(first)
    expect(other?.metadata.value).not.to.equal(first?.metadata.value)
  })

  it('finds those of one mode, and those whose latest message is in one state', async () => {
    const shop = await createTenant(admin)
    const found = (await actor.send({ ...shop, recipient: NUMBER })).otp_id
    await actor.clock.advance(1_000)
    const other = (await actor.send({ ...shop, recipient: NUMBER })).otp_id
    const doc = (await store.docs('otps').get([found])).get(found)
    const [delivery] = doc?.context.deliveries ?? []
    const change = { 'context.deliveries': [{ ...delivery, status: 'failed' }] }
    await store.docs('otps').modify({ _id: found }, { $set: change } as never)
    expect(await ids('/verifications?delivery=failed')).to.deep.equal([found])
    expect(await ids('/verifications?delivery=queued')).to.deep.equal([other])
    expect(await ids('/verifications?mode=test')).to.deep.equal([other, found])
    expect(await ids('/verifications?mode=live')).to.deep.equal([])
  })

  it('finds one by its id, and takes all filters of a query', async () => {
    const { shop, bank, inShop, inBank, toAnn } = await sendToTwoApps()
    expect(await ids(`/verifications?otp_id=${inShop}&app_id=${shop.app}&recipient=${NUMBER}`)).to.deep.equal([inShop])
    expect(await ids(`/verifications?otp_id=${inShop}&app_id=${bank.app}`)).to.deep.equal([])
    expect(await ids(`/apps/${shop.app}/verifications?otp_id=${inBank}`)).to.deep.equal([])
    expect(await ids('/verifications?otp_id=otp_rubbish')).to.deep.equal([])
    const { created_at } = (await admin.get(`/verifications/${inBank}`)).body
    expect(await ids('/verifications?channel=email&status=pending')).to.deep.equal([toAnn])
    expect(await ids(`/verifications?country=GG&until=${created_at}`)).to.deep.equal([inShop])
    const withOffset = new Date(Date.parse(created_at) + 3_600_000).toISOString().replace('Z', '+01:00')
    expect(await ids(`/apps/${bank.app}/verifications?since=${withOffset}`)).to.deep.equal([toAnn, inBank])
    expect(await ids('/verifications?since=0001-01-01T00:00:00Z&until=2029-12-31T23:59:59Z')).to.deep.equal([])
    await actor.clock.advance(600_000)
    expect(await ids(`/verifications?status=expired&recipient=${NUMBER}`)).to.deep.equal([inBank, inShop])
    expect((await admin.get('/verifications?app_id=app_none')).status).to.equal(404)
    const { next_cursor } = (await admin.get('/verifications?channel=sms&limit=1')).body
    expect(await ids(`/verifications?channel=sms&limit=1&cursor=${next_cursor}`)).to.deep.equal([inShop])
    const elsewhere = await admin.get(`/verifications?channel=email&cursor=${next_cursor}`)
    expect(errorPaths(elsewhere), 'a cursor of other filters').to.deep.equal(['cursor'])
  })

  it('finds one by the time it was made, though its id is that of a dead process', async () => {
    const { company, app } = await createTenant(admin)
    const by = { company_id: company, app_id: app, mode: 'test', key_id: 'key_server', kind: 'server' } as const
    const { ids: claimIds = [], sealed_key = '' } = claimOf(testKeyring(), by, 'order 1') ?? {}
    const diedAt = actor.clock.now()
    const [otp_id, times] = [newId('otp', diedAt), { expires_at: diedAt + HOUR_MS, purge_at: new Date(2 ** 42) }]
    const claim = { otp_id, held_until: diedAt + CLAIM_HELD_MS, claimed_at: diedAt, sealed_key, ...times }
    await store.docs('claims').insert(claimIds.map(_id => ({ _id, ...claim })))
    await actor.clock.advance(MAX_AGE_OF_TAKEN_OVER_ID_MS - 1)
    const since = new Date(actor.clock.now()).toISOString()
    expect(await actor.send({ company, app, recipient: NUMBER, idempotency: 'order 1' })).to.include({ otp_id })
    expect(await ids(`/verifications?since=${since}`)).to.deep.equal([otp_id])
    expect(await ids(`/verifications?until=${since}`)).to.deep.equal([])
  })
})
