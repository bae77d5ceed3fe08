// Every route of the admin API with every kind of caller: no session, a lower role, another company, the right role. A
// new route needs a line in EXAMPLES, and one in ROLE_OF unless it needs the usual role.
import { expect } from 'chai'
import type { DeadLetter, DeadLetters, Depth } from '../../../infra/broker/broker.ts'
import { ADMIN_PATH, ROLES, type Role } from '../../../services/dashboard/access.ts'
import { OPERATIONS } from '../../../services/dashboard/admin-api.ts'
import { noContent } from '../../../services/dashboard/answers.ts'
import { operation } from '../../../services/dashboard/operation.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { ProviderTestAnswer } from '../../../services/domain/tenancy/provider-test.ts'
import { closeAdmins, createTenant, startAdmin, type TestAdmin, TOKENS } from '../../support/admin-api.ts'
import type { Answer } from '../../support/api-caller.ts'
import { type Browser, signIn, userBrowser } from '../../support/dashboard-session.ts'
import { startOtpActor } from '../../support/otp.actor.ts'
import { type CollectionName, collectionNames, rawDocuments } from '../../support/raw-documents.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import { addUser } from '../../support/users.ts'

/** Where the documents of other companies can be named beside the path. */
type Elsewhere = 'the list of another company is empty' | 'has no company'

interface Example {
  body?: unknown
  /** A query, from the question mark on. */
  query?: string
  elsewhere?: Elsewhere
  /** What the right role is answered here, where there are no passkeys; by default it succeeds. */
  answer?: number
}

/** A company with one of everything. */
interface World {
  admin: TestAdmin
  company: string
  app: string
  key: string
  event: string
  otp_id: string
  /** A user of the company whom no session belongs to. */
  user: string
}

const SMTP = { type: 'smtp', config: { host: 'mail.example', port: 587, from: 'a@shop.example' } }
const ip_lists = { lists: [{ class: 'vpn', cidrs: ['185.220.101.0/24'] }] }
const OWN_LIST: Elsewhere = 'the list of another company is empty'
const NO_COMPANY: Elsewhere = 'has no company'

const NEW_PASSKEY = {
  name: 'Laptop',
  credential: {
    id: 'AAAA',
    rawId: 'AAAA',
    type: 'public-key',
    response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
  },
}

/** A request to each route that the right role may make. Ids in the path are those of `World`. */
const EXAMPLES: Record<string, Example | ((world: World) => Example)> = {
  'POST /sign-in': { body: { token: TOKENS[0]?.token }, elsewhere: NO_COMPANY },
  'POST /sign-in/passkey': { elsewhere: NO_COMPANY, answer: 409 },
  'POST /step-up': { body: {}, elsewhere: NO_COMPANY },
  'POST /step-up/passkey': { elsewhere: NO_COMPANY, answer: 409 },
  'GET /me/passkeys': { elsewhere: NO_COMPANY },
  'POST /me/passkeys/options': { elsewhere: NO_COMPANY, answer: 409 },
  'POST /me/passkeys': { body: NEW_PASSKEY, elsewhere: NO_COMPANY, answer: 409 },
  'DELETE /me/passkeys/{id}': { elsewhere: NO_COMPANY, answer: 404 },
  'GET /session': { elsewhere: NO_COMPANY },
  'POST /sign-out': { elsewhere: NO_COMPANY },
  'GET /me': { elsewhere: NO_COMPANY },
  'POST /me/company': ({ company }) => ({ body: { company_id: company } }),
  'POST /invitations/{id}/accept': {},
  'POST /invitations/{id}/decline': {},
  'GET /sessions': { elsewhere: NO_COMPANY },
  'DELETE /sessions': { elsewhere: NO_COMPANY },
  'DELETE /sessions/{id}': {},
  'GET /companies': { elsewhere: OWN_LIST },
  'POST /companies': { body: { name: 'Other' } },
  'GET /companies/{id}': {},
  'PATCH /companies/{id}': { body: { name: 'Renamed' } },
  'POST /companies/{id}/credit': { body: { micros: 5, note: 'a transfer' } },
  'GET /companies/{id}/ledger': {},
  'GET /companies/{id}/statement': {},
  'GET /companies/{id}/reconciliation': {},
  'GET /companies/{id}/notices': {},
  'GET /companies/{id}/notices/recipients': {},
  'GET /companies/{id}/users': {},
  'POST /companies/{id}/users': { body: { email: 'new@shop.example', role: 'viewer' } },
  'GET /users/unstamped': {},
  'POST /users/stamp': ({ user }) => ({ body: { ids: [user] } }),
  'PATCH /users/{id}': { body: { role: 'developer' } },
  'DELETE /users/{id}': {},
  'GET /companies/{id}/apps': {},
  'POST /companies/{id}/apps': { body: { name: 'Second' } },
  'GET /apps/{id}': {},
  'PATCH /apps/{id}': { body: { name: 'Renamed' } },
  'GET /apps/{id}/keys': {},
  'POST /apps/{id}/keys': { body: { kind: 'server', mode: 'test' } },
  'PATCH /keys/{id}': { body: { name: 'backend' } },
  'DELETE /keys/{id}': {},
  'GET /apps/{id}/providers': {},
  'GET /apps/{id}/providers/{name}': {},
  'PUT /apps/{id}/providers/{name}': { body: { ...SMTP, position: 3 } },
  'DELETE /apps/{id}/providers/{name}': {},
  'POST /apps/{id}/providers/{name}/test': { body: { recipient: 'ann@shop.example' } },
  'GET /apps/{id}/webhook': {},
  'PUT /apps/{id}/webhook': { body: { url: 'https://other.example/hook' } },
  'POST /apps/{id}/webhook/rotate': {},
  'POST /apps/{id}/webhook/promote': {},
  'POST /apps/{id}/webhook/enable': {},
  'POST /apps/{id}/webhook/test': {},
  'GET /apps/{id}/hooks/supabase': {},
  'PUT /apps/{id}/hooks/supabase': { body: { mode: 'test', secrets: null } },
  'GET /apps/{id}/endpoints': {},
  'POST /apps/{id}/endpoints': { body: { url: 'https://other.example/hook' } },
  'GET /endpoints/{id}': {},
  'PATCH /endpoints/{id}': { body: { name: 'Renamed' } },
  'DELETE /endpoints/{id}': {},
  'POST /endpoints/{id}/enable': {},
  'POST /endpoints/{id}/test': {},
  'POST /endpoints/{id}/rotate': {},
  'POST /endpoints/{id}/promote': {},
  'GET /apps/{id}/events': {},
  'GET /events/{id}': {},
  'POST /events/{id}/replay': {},
  'POST /apps/{id}/events/replay': { body: { since: '2029-01-01T00:00:00Z' } },
  'POST /apps/{id}/events/fetch': { body: { secret: 'whsec_c2VjcmV0', since: '2029-01-01T00:00:00Z' } },
  'GET /verifications': { elsewhere: OWN_LIST },
  'GET /verifications/{otp_id}': {},
  'POST /verifications/{otp_id}/resend': {},
  'POST /verifications/{otp_id}/cancel': {},
  'GET /apps/{id}/verifications': {},
  'GET /refusals': { elsewhere: OWN_LIST },
  'GET /refusals/summary': ({ app }) => ({ query: `?app_id=${app}` }),
  'GET /apps/{id}/stats': {},
  'GET /apps/{id}/health': {},
  'GET /apps/{id}/routes': {},
  'GET /apps/{id}/fraud': {},
  'GET /apps/{id}/fraud/prefixes': {},
  'POST /apps/{id}/route': { body: { recipient: '+14155550123' } },
  'POST /apps/{id}/settings/try': {
    body: { settings: {}, since: '2029-01-01T00:00:00Z', until: '2029-01-02T00:00:00Z' },
  },
  'GET /prices': { elsewhere: NO_COMPANY },
  'PUT /prices': { body: { prices: [] } },
  'POST /prices/try': { body: { prices: [] } },
  'GET /ip-lists': {},
  'PUT /ip-lists': { body: ip_lists },
  'GET /queues': {},
  'GET /queues/{queue}/dead': {},
  'GET /queues/{queue}/dead/{id}': {},
  'POST /queues/{queue}/dead/requeue': { body: { all: true } },
  'POST /queues/{queue}/dead/drop': { body: { ids: ['letter'] } },
  'GET /sandbox/messages': { elsewhere: OWN_LIST },
  'POST /sandbox/inbound': ({ app }) => ({ body: { app_id: app, from: '+14155550123', text: 'hello' } }),
  'GET /privacy': {},
  'POST /apps/{id}/erase': { body: { recipient: '+14155550123' } },
  'POST /companies/{id}/erase': { body: { recipient: '+14155550123' } },
  'GET /audit': ({ company }) => ({ query: `?company_id=${company}` }),
}

/** The lowest role for each route. Without a line here: a viewer may read, and a developer may change. */
const ROLE_OF: Record<string, Role | 'anyone'> = {
  'POST /sign-in': 'anyone',
  'GET /session': 'anyone',
  'POST /sign-in/passkey': 'anyone',
  'POST /step-up': 'invited',
  'POST /step-up/passkey': 'invited',
  'POST /me/passkeys/options': 'viewer',
  'POST /me/passkeys': 'viewer',
  'DELETE /me/passkeys/{id}': 'viewer',
  'POST /sign-out': 'invited',
  'GET /me': 'invited',
  'POST /me/company': 'viewer',
  'POST /invitations/{id}/accept': 'invited',
  'POST /invitations/{id}/decline': 'invited',
  'GET /sessions': 'invited',
  'DELETE /sessions': 'invited',
  'DELETE /sessions/{id}': 'invited',
  'POST /apps/{id}/route': 'viewer',
  'POST /apps/{id}/settings/try': 'developer',
  'PATCH /companies/{id}': 'owner',
  'GET /companies/{id}/reconciliation': 'owner',
  'POST /companies/{id}/users': 'owner',
  'PATCH /users/{id}': 'owner',
  'DELETE /users/{id}': 'owner',
  'GET /users/unstamped': 'operator',
  'POST /users/stamp': 'operator',
  'POST /companies': 'operator',
  'POST /companies/{id}/credit': 'operator',
  'PUT /prices': 'operator',
  'POST /prices/try': 'operator',
  'GET /ip-lists': 'operator',
  'PUT /ip-lists': 'operator',
  'GET /privacy': 'operator',
  'GET /queues': 'operator',
  'GET /queues/{queue}/dead': 'operator',
  'GET /queues/{queue}/dead/{id}': 'operator',
  'POST /queues/{queue}/dead/requeue': 'operator',
  'POST /queues/{queue}/dead/drop': 'operator',
}
const expectedRole = (route: string): Role | 'anyone' =>
  ROLE_OF[route] ?? (route.startsWith('GET ') ? 'viewer' : 'developer')

/** As the operations declare them. */
const DECLARED = OPERATIONS.map(
  ({ method, path, role }) => [`${method.toUpperCase()} ${path.slice(ADMIN_PATH.length)}`, role] as const,
)

const keyring = testKeyring()

const LETTER: DeadLetter = { id: 'letter', body: {}, reason: 'a bug', attempt: 1, diedAt: 1, position: '1' }
const CHANNEL_DEPTH: Depth = { ready: 0, consumers: 1, dead: 0, oldestMs: null, brokerName: null }
const CHANNEL_ANSWER: ProviderTestAnswer = {
  kind: 'called',
  outcome: 'accepted',
  http_status: null,
  vendor_code: null,
  vendor_text: null,
  ms: 1,
}
const OTP_ANSWER = { kind: 'verification' }
const DEAD_LETTERS: DeadLetters = {
  list: async () => [LETTER],
  get: async () => LETTER,
  requeue: async () => 1,
  drop: async () => 1,
}

/** A browser in which a user of the company is signed in; an operator for the role `operator`. */
const browserOf = async ({ admin, company }: Pick<World, 'admin' | 'company'>, role: Role): Promise<Browser> =>
  role === 'operator'
    ? signIn(admin.url, { token: TOKENS[1]?.token })
    : (await userBrowser(admin, company, role)).browser

async function createWorld(store: CountersignStore): Promise<World> {
  const admin = await startAdmin(store, {
    broker: {
      dead: () => DEAD_LETTERS,
      depth: async () => CHANNEL_DEPTH,
      request: async queue => (queue === 'otp.calls' ? OTP_ANSWER : CHANNEL_ANSWER),
    },
  })
  const { company, app } = await createTenant(admin)
  const key = (await admin.ask('POST', `/apps/${app}/keys`, { kind: 'server', mode: 'test' })).body.id
  await admin.ask('PUT', `/apps/${app}/providers/mail`, SMTP)
  await admin.ask('PUT', `/apps/${app}/webhook`, { url: 'https://shop.example/hook' })
  await admin.ask('POST', `/apps/${app}/webhook/rotate`)
  const event = (await admin.ask('POST', `/apps/${app}/webhook/test`)).body.event_id
  const actor = await startOtpActor(store, keyring)
  const { otp_id } = await actor.send({ company, app, recipient: '+14155550123' })
  await actor.close()
  const [message] = await store.docs('otps').find({}, { sort: { _id: 1 }, limit: 1 })
  await store.docs('sandbox_messages').insert([sandboxMessage(message?.context.deliveries[0]?.delivery_id, otp_id)])
  const user = (await addUser(store, company, 'viewer'))._id
  return { admin, company, app, key, event, otp_id, user }

  function sandboxMessage(_id = '', of: string) {
    const times = { at: admin.clock.now(), purge_at: new Date('2040-01-01') }
    return { _id, app_id: app, company_id: company, otp_id: of, generation: 1, locale: 'en', recipient: 'x', ...times }
  }
}

/** The request of an example. `me`: whose session DELETE /sessions/{id} ends, and whose invitation is answered. */
function requestOf(route: string, world: World, me: Browser['me'] = { id: 'usr_none', session_id: 'ses_none' }) {
  const found = EXAMPLES[route]
  if (found === undefined) throw new Error(`EXAMPLES has no example of ${route}`)
  const { body, query = '', elsewhere, answer } = typeof found === 'function' ? found(world) : found
  const [method = '', pattern = ''] = route.split(' ')
  const ids: Record<string, string> = {
    companies: world.company,
    apps: world.app,
    keys: world.key,
    events: world.event,
    endpoints: world.app.replace('app_', 'whk_'),
    users: world.user,
    sessions: me.session_id,
    invitations: me.id,
  }
  const path = pattern
    .replace(/^\/([^/]+)\/\{id\}/, (_, what: string) => `/${what}/${ids[what]}`)
    .replace('{name}', 'mail')
    .replace('{otp_id}', world.otp_id)
    .replace('{queue}', 'otp.reports')
    .replace('{id}', LETTER.id)
  return { method, path: path + query, body, elsewhere, succeeds: answer === undefined ? [200, 201, 204] : [answer] }
}

/** Everything in the store, except when a session was last seen. */
async function snapshot(store: CountersignStore): Promise<Record<string, string[]>> {
  const names = collectionNames.filter(name => name !== 'leases' && name !== 'sessions')
  const all = await Promise.all(names.map(async (name: CollectionName) => [name, await rawDocuments(store, name)]))
  return Object.fromEntries(all)
}

const isEmptyList = ({ status, body }: Answer): boolean =>
  status === 200 && (Array.isArray(body) ? body : body.items).length === 0

onEmbeddedStore('a route of the admin API', fresh => {
  let world: World
  beforeEach(async () => {
    world = await createWorld(await fresh())
  })
  afterEach(closeAdmins)

  it('has an example here, and needs the role that is expected here', () => {
    const expected = Object.keys(EXAMPLES).map(route => [route, expectedRole(route)])
    expect(Object.fromEntries(DECLARED)).to.deep.equal(Object.fromEntries(expected))
  })

  it('cannot be declared without a role', () => {
    const declared = { id: 'open', route: 'GET /open', summary: 'Open', description: 'For all.' } as const
    // @ts-expect-error: `role` is missing.
    operation({ ...declared, answers: [noContent('Done.')], handle: async () => {} })
  })

  it('refuses a caller without a session, and changes nothing', async () => {
    const before = await snapshot(world.admin.store)
    for (const [route, role] of DECLARED) {
      if (role === 'anyone') continue
      const { method, path, body } = requestOf(route, world)
      const answer = await world.admin.ask(method, path, body, { token: null })
      expect(answer.status, route).to.equal(401)
      expect(answer.body.type).to.equal('HTTPException')
    }
    expect(await snapshot(world.admin.store)).to.deep.equal(before)
  })

  it('refuses every lower role, and changes nothing', async () => {
    const browsers = new Map<Role, Browser>()
    for (const role of ROLES) browsers.set(role, await browserOf(world, role))
    const before = await snapshot(world.admin.store)
    for (const [route, lowest] of DECLARED) {
      if (lowest === 'anyone') continue
      for (const role of ROLES.slice(0, ROLES.indexOf(lowest))) {
        const { method, path, body } = requestOf(route, world)
        const answer = await browsers.get(role)?.ask(method, path, body)
        expect(answer?.status, `${route} as ${role}`).to.equal(403)
      }
    }
    expect(await snapshot(world.admin.store)).to.deep.equal(before)
  })

  it('hides another company from its users, and changes nothing', async () => {
    const { admin } = world
    const { company } = await createTenant(admin)
    const stranger = await browserOf({ admin, company }, 'owner')
    const invited = (await browserOf(world, 'invited')).me
    const before = await snapshot(admin.store)
    for (const [route, lowest] of DECLARED) {
      const { method, path, body, elsewhere } = requestOf(route, world, invited)
      if (lowest === 'anyone' || lowest === 'operator' || elsewhere === NO_COMPANY) continue
      const answer = await stranger.ask(method, path, body)
      expect(answer.text, route).not.to.include(world.company).and.not.to.include(world.app)
      if (route === 'GET /companies') expect(answer.body.items.map((one: { id: string }) => one.id)).to.eql([company])
      else if (elsewhere === OWN_LIST) expect(isEmptyList(answer), `${route}: ${answer.text}`).to.equal(true)
      else
        expect(answer.status, `${route}: ${answer.text}`).to.be.oneOf(route === 'POST /sandbox/inbound' ? [422] : [404])
    }
    const audit = (await stranger.ask('GET', '/audit')).text
    expect(audit).to.include(company)
    expect(audit).not.to.include(world.company)
    expect(await snapshot(admin.store)).to.deep.equal(before)
  })

  it('lets an owner rename the company, and only an operator close it', async () => {
    const path = `/companies/${world.company}`
    const owner = await browserOf(world, 'owner')
    expect((await owner.ask('PATCH', path, { name: 'Acme Ltd' })).body.name).to.equal('Acme Ltd')
    expect((await owner.ask('PATCH', path, { closed: true })).status).to.equal(403)
    const operator = await browserOf(world, 'operator')
    expect((await operator.ask('PATCH', path, { closed: true })).body.closed_at).to.be.a('string')
    expect((await owner.ask('PATCH', path, { closed: false })).status).to.equal(403)
  })

  for (const [route, lowest] of DECLARED)
    it(`lets the lowest role call it: ${route} as ${lowest}`, async () => {
      const browser = await browserOf(world, lowest === 'anyone' ? 'viewer' : lowest)
      const { method, path, body, succeeds } = requestOf(route, world, browser.me)
      const answer = await browser.ask(method, path, body)
      expect(answer.status, answer.text).to.be.oneOf(succeeds)
      if (route === 'GET /sandbox/messages') expect(answer.body).to.have.length(1)
    })
})
