// Tickets of sign-in links: each is good once, for an hour, while its operator's token stays the same.
import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createSignInTickets } from '../../../../services/domain/users/sign-in-tickets.ts'
import { type AdminOptions, closeAdmins, startAdmin, type TestAdmin, TOKENS } from '../../../support/admin-api.ts'
import { createBrowser, post } from '../../../support/dashboard-session.ts'
import { collectionsContaining, rawDocuments } from '../../../support/raw-documents.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'
import { testGrants } from '../../../support/users.ts'

const [ADA, BOB] = TOKENS as [(typeof TOKENS)[0], (typeof TOKENS)[0]]
const HOUR_MS = 3_600_000

onEmbeddedStore('a ticket for signing in', fresh => {
  let store: CountersignStore
  let admin: TestAdmin
  beforeEach(async () => {
    store = await fresh()
    admin = await startAdmin(store)
  })
  afterEach(closeAdmins)

  const newTicket = (keyring = testKeyring()): Promise<string> =>
    createSignInTickets({ store, keyring, grants: testGrants(keyring), clock: admin.clock, operators: TOKENS }).create(
      BOB,
    )
  const elsewhere = (options: AdminOptions): Promise<TestAdmin> => startAdmin(store, { clock: admin.clock, ...options })

  it('begins a session of its operator, which the audit log has', async () => {
    const answer = await post(admin.url, { ticket: await newTicket() })
    expect(answer.status, answer.text).to.equal(200)
    expect(answer.body).to.include({ id: null, name: 'bob', role: 'operator', company_id: null })
    const browser = createBrowser(admin.url, answer)
    // Records of one millisecond have no order.
    await admin.clock.advance(1)
    expect((await browser.ask('POST', '/companies', { name: 'Acme' })).status).to.equal(201)
    const records = (await admin.get('/audit')).body.items
    expect(records.at(-1)).to.include({ who: 'bob', action: 'session.create', target: answer.body.session_id })
  })

  it('is good once: the second use is refused in words that say what to do', async () => {
    const ticket = await newTicket()
    expect((await post(admin.url, { ticket })).status).to.equal(200)
    const { status, body, headers } = await post(admin.url, { ticket })
    expect(status).to.equal(401)
    expect(body.detail).to.include("Sign in with the operator's token").and.to.include('restart prints a new link')
    expect(headers.getSetCookie()).to.deep.equal([])
  })

  it('begins one session when it is used several times at once, in several processes', async () => {
    const other = await elsewhere({})
    for (let round = 0; round < 5; round += 1) {
      const ticket = await newTicket()
      const uses = [admin, other, admin, other].map(({ url }) => post(url, { ticket }))
      const statuses = (await Promise.all(uses)).map(({ status }) => status)
      expect(statuses.sort()).to.deep.equal([200, 401, 401, 401])
    }
    expect(await rawDocuments(store, 'sessions')).to.have.length(5)
  })

  it('ends after an hour, and is purged then', async () => {
    const [inTime, late] = [await newTicket(), await newTicket()]
    const [stored] = await store.docs('sign_in_tickets').find({}, { sort: { _id: 1 }, limit: 1 })
    expect(stored?.purge_at.getTime()).to.equal(admin.clock.now() + HOUR_MS)
    await admin.clock.advance(HOUR_MS - 1)
    expect((await post(admin.url, { ticket: inTime })).status).to.equal(200)
    await admin.clock.advance(1)
    expect((await post(admin.url, { ticket: late })).status).to.equal(401)
  })

  it('ends when its operator’s token is changed or removed', async () => {
    const ticket = await newTicket()
    for (const tokens of [[ADA], [ADA, { name: 'bob', token: 'another-token' }], [{ name: 'ada', token: BOB.token }]])
      expect((await post((await elsewhere({ tokens })).url, { ticket })).status).to.equal(401)
    // The refused uses have not used it up, nor does it end when data keys rotate.
    expect((await post(admin.url, { ticket }, { Origin: 'https://evil.example' })).status, 'another site').to.equal(403)
    expect((await post((await elsewhere({ keyring: [2, 1] })).url, { ticket })).status).to.equal(200)
  })

  it('is refused, and this is logged, when somebody wrote it into the store, or to it', async () => {
    const tickets = store.docs('sign_in_tickets')
    const genuine = async (ticket: string) => {
      const _id = createHash('sha256').update(ticket).digest('hex')
      return (await tickets.get([_id])).get(_id)
    }
    const [former, prolonged] = [await newTicket(), await newTicket()]
    const { mac, ...members } = (await genuine(former)) ?? expect.fail()
    const planted = { ...members, _id: createHash('sha256').update('planted').digest('hex') }
    await tickets.insert([
      planted,
      { ...planted, _id: createHash('sha256').update('copied').digest('hex'), mac: mac ?? '' },
    ])
    await tickets.modify({ _id: (await genuine(prolonged))?._id ?? '' }, { $inc: { expires_at: HOUR_MS } })
    for (const ticket of ['planted', 'copied', prolonged])
      expect((await post(admin.url, { ticket })).status, ticket).to.equal(401)
    expect(admin.captured.output().split('access.refused')).to.have.length(1 + 3)
    expect((await post(admin.url, { ticket: former })).status).to.equal(200)
  })

  it('is neither in the store nor in the log', async () => {
    const ticket = await newTicket()
    expect(ticket).to.match(/^[\w-]{43}$/)
    await post(admin.url, { ticket: `${ticket}x` })
    expect(await collectionsContaining(store, ticket)).to.deep.equal([])
    await post(admin.url, { ticket })
    expect(await collectionsContaining(store, ticket)).to.deep.equal([])
    expect(admin.captured.output()).not.to.include(ticket)
  })

  it('is refused with a logged address, and the sixty-first try in a minute has to wait', async () => {
    for (let tries = 0; tries < 60; tries += 1)
      expect((await post(admin.url, { ticket: `guess-${tries}` })).status).to.equal(401)
    expect(admin.captured.output()).to.include('sign_in.ticket_refused').and.to.include('caller_address')
    const ticket = await newTicket()
    expect((await post(admin.url, { ticket })).body).to.include({ type: 'RateLimitExceededError', scope: 'sign_in' })
    await admin.clock.advance(60_000)
    expect((await post(admin.url, { ticket })).status).to.equal(200)
  })

  it('is spent, and opens no session, when the process ends between its removal and the session', async () => {
    const dying: CountersignStore = {
      ...store,
      docs: name =>
        name !== 'audit'
          ? store.docs(name)
          : {
              ...store.docs(name),
              modify: () => Promise.reject(new Error('the process has ended')),
            },
    }
    const ticket = await newTicket()
    expect((await post((await startAdmin(dying, { clock: admin.clock })).url, { ticket })).status).to.equal(500)
    expect(await rawDocuments(store, 'sessions')).to.deep.equal([])
    expect((await post(admin.url, { ticket })).status).to.equal(401)
  })
})
