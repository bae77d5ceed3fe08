// Every operation of the admin API with every kind of caller (no session, a lower role, another company, a closed one, a session that has
// not proved lately whose it is, the right role), and with requests that none of them takes: unknown ids, unknown members, bodies that are
// too large. What each refuses in its own body and query is in operation-refusals.test.ts. A new operation needs a line in
// test/support/operation-examples.ts, one in ROLE_OF unless it needs the usual role, and one in STEP_UP_BODIES if its example needs no step-up.
import { request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { ROLES, type Role } from '../../../services/dashboard/access.ts'
import { OPERATIONS } from '../../../services/dashboard/admin-api.ts'
import { noContent } from '../../../services/dashboard/answers.ts'
import { operation } from '../../../services/dashboard/operation.ts'
import { stepUpRefusal } from '../../../services/dashboard/step-up.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { closeAdmins, createTenant, errorPaths, type TestAdmin } from '../../support/admin-api.ts'
import type { Answer } from '../../support/api-caller.ts'
import type { Browser } from '../../support/dashboard-session.ts'
import {
  browserOf,
  createWorld,
  DECLARED,
  EXAMPLES,
  NO_COMPANY,
  OWN_LIST,
  requestLineOf,
  requestOf,
  type World,
} from '../../support/operation-examples.ts'
import { type CollectionName, collectionNames, rawDocuments } from '../../support/raw-documents.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

/** The lowest role for each operation. Without a line here: a viewer may read, and a developer may change. */
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
  'POST /apps/{id}/export': 'owner',
  'GET /companies/{id}/reconciliation': 'owner',
  'POST /companies/{id}/users': 'owner',
  'PATCH /users/{id}': 'owner',
  'DELETE /users/{id}': 'owner',
  'GET /users/unstamped': 'operator',
  'POST /users/stamp': 'operator',
  'DELETE /companies/{id}': 'owner',
  'DELETE /apps/{id}': 'owner',
  'POST /companies': 'operator',
  'POST /companies/{id}/credit': 'operator',
  'PUT /prices': 'operator',
  'POST /prices/try': 'operator',
  'GET /ip-lists': 'operator',
  'PUT /ip-lists': 'operator',
  'GET /privacy': 'operator',
  'GET /erasures': 'operator',
  'POST /erasures/replay': 'operator',
  'GET /queues': 'operator',
  'GET /queues/{queue}/dead': 'operator',
  'GET /queues/{queue}/dead/{id}': 'operator',
  'POST /queues/{queue}/dead/requeue': 'operator',
  'POST /queues/{queue}/dead/drop': 'operator',
}
const expectedRole = (request: string): Role | 'anyone' =>
  ROLE_OF[request] ?? (request.startsWith('GET ') ? 'viewer' : 'developer')

/** Everything in the store, except when a session was last seen. */
async function snapshot(store: CountersignStore): Promise<Record<string, string[]>> {
  const names = collectionNames.filter(name => name !== 'leases' && name !== 'sessions')
  const all = await Promise.all(names.map(async (name: CollectionName) => [name, await rawDocuments(store, name)]))
  return Object.fromEntries(all)
}

const isEmptyList = ({ status, body }: Answer): boolean =>
  status === 200 && (Array.isArray(body) ? body : body.items).length === 0

/** What is read of a body, in KiB, where it may hold lists, texts or settings. */
const LARGE_BODIES: Record<string, number> = {
  'PUT /prices': 512,
  'POST /prices/try': 256,
  'POST /companies/{id}/apps': 320,
  'PATCH /apps/{id}': 640,
  'POST /apps/{id}/settings/try': 320,
  'POST /apps/{id}/events/fetch': 64,
  'PUT /ip-lists': 40 * 1024,
}

/** Users of a closed company may still erase people, and leave. */
const ALLOWED_WHEN_CLOSED = [
  'POST /apps/{id}/erase',
  'POST /companies/{id}/erase',
  'POST /apps/{id}/export',
  'POST /apps/{id}/settings/try',
  'POST /apps/{id}/route',
  'POST /apps/{id}/events/fetch',
  'DELETE /companies/{id}',
  'DELETE /apps/{id}',
]

/** Bodies that need a step-up, where the example does not. */
const STEP_UP_BODIES: Record<string, unknown[]> = {
  'PATCH /apps/{id}': [
    { closed: true },
    ...[
      { texts: { sms: { en: { text: '{code} is your code for {app}.' } } } },
      { text_links: true },
      { fraud_guard: { mode: 'off' } },
      { publishable_challenge: 'off' },
      { limits: { client_ip: [{ max: 1_001, seconds: 600 }] } },
      { spend_caps: null },
      { number_kinds: { refused: [] } },
      { retention_days: 29 },
    ].map(settings => ({ settings })),
  ],
  'POST /apps/{id}/keys': [{ kind: 'server', mode: 'live' }],
  'PUT /apps/{id}/hooks/supabase': [{ mode: 'live', secrets: null }],
  'PATCH /endpoints/{id}': [{ url: 'https://other.example/hook' }],
  'PATCH /companies/{id}': [{ closed: true }],
  'PATCH /users/{id}': [{ role: 'owner' }],
}
const STEP_UP_MS = 10 * 60_000

onEmbeddedStore('an operation of the admin API', fresh => {
  let world: World
  beforeEach(async () => {
    world = await createWorld(await fresh())
  })
  afterEach(closeAdmins)

  /** The collections that differ. */
  async function changedSince(before: Record<string, string[]>): Promise<string[]> {
    const after = await snapshot(world.admin.store)
    return Object.keys(after).filter(name => after[name]?.join() !== before[name]?.join())
  }

  it('has an example here, needs the role that is expected here, and is served', () => {
    const expected = Object.keys(EXAMPLES).map(request => [request, expectedRole(request)])
    expect(Object.fromEntries(DECLARED)).to.deep.equal(Object.fromEntries(expected))
    expect(world.admin.served).to.have.members(DECLARED.map(([request]) => request))
  })

  it('cannot be declared without a role', () => {
    const declared = { id: 'open', request: 'GET /open', summary: 'Open', description: 'For all.' } as const
    // @ts-expect-error: `role` is missing.
    operation({ ...declared, answers: [noContent('Done.')], handle: async () => {} })
  })

  it('refuses a caller without a session, and changes nothing', async () => {
    const before = await snapshot(world.admin.store)
    for (const [request, role] of DECLARED) {
      if (role === 'anyone') continue
      const { method, path, body, headers } = requestOf(request, world)
      // Before the body is read.
      const broken = body === undefined ? {} : { raw: '{' }
      const answer = await world.admin.ask(method, path, undefined, { token: null, headers, ...broken })
      expect(answer.status, request).to.equal(401)
      expect(answer.body.type).to.equal('HTTPException')
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer')
    }
    expect(await changedSince(before)).to.deep.equal([])
  })

  it('refuses a caller without a session at its path in any spelling', async () => {
    const spellings = ['/ADMIN/v1', '/admin/V1', '//admin/v1', '/admin%2Fv1', '/%61dmin/v1', '/x/../admin/v1']
    for (const [request, role] of DECLARED) {
      if (role === 'anyone') continue
      const { method, path } = requestOf(request, world)
      const paths = spellings.map(prefix => prefix + path)
      for (const spelled of [
        ...paths,
        `/admin/v1${path.replace(/[a-z]/, first => first.toUpperCase())}`,
        `/admin/v1${path}/`,
      ])
        expect(await statusOf(world.admin, method, spelled), `${method} ${spelled}`).to.be.oneOf([401, 404])
    }
  })

  it('is 404 for what there is not, and changes nothing', async () => {
    const { admin } = world
    const [company, app, key, event, otp_id, user] = ['cmp', 'app', 'key', 'evt', 'otp', 'usr'].map(
      kind => `${kind}_none`,
    )
    const unknown = { ...world, company, app, key, event, otp_id, user } as World
    const before = await snapshot(admin.store)
    for (const [request] of DECLARED) {
      if (!request.includes('{')) continue
      const { method, path, body, headers } = requestOf(request, unknown)
      const answer = await admin.ask(method, path.replace('/otp.reports/', '/constructor/'), body, { headers })
      expect(answer.body, request).to.include({ type: 'HTTPException', status: 404 })
    }
    for (const id of [world.app, '%00%ff']) expect((await admin.get(`/companies/${id}`)).status, id).to.equal(404)
    const otherMethod = await admin.ask('PUT', '/companies')
    expect([otherMethod.status, otherMethod.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, POST'])
    expect((await admin.get('/nothing')).body).to.include({ type: 'HTTPException', status: 404 })
    expect(await changedSince(before)).to.deep.equal([])
  })

  it('names what it does not know in a query or a body, and changes nothing', async () => {
    const { admin } = world
    const before = await snapshot(admin.store)
    for (const { parameters = [], ...one } of OPERATIONS) {
      const request = requestLineOf(one)
      const { method, path, body } = requestOf(request, world)
      if (parameters.some(({ in: place }) => place === 'query')) {
        const answer = await admin.ask(method, `${path}${path.includes('?') ? '&' : '?'}limti=5`, body)
        expect([answer.status, errorPaths(answer)], request).to.deep.equal([422, ['limti']])
      }
      if (body === undefined) continue
      const json = JSON.stringify(body).slice(1, -1)
      for (const [raw, name] of [
        [JSON.stringify({ ...body, unknown: 1 }), 'unknown'],
        [`{${[json, '"__proto__":{"role":"owner"}'].filter(Boolean).join()}}`, '__proto__'],
        [JSON.stringify([body]), ''],
      ] as const) {
        const answer = await admin.ask(method, path, undefined, { raw })
        expect([answer.status, errorPaths(answer)], `${request} ${raw}`).to.deep.equal([422, [name]])
      }
    }
    expect(await changedSince(before)).to.deep.equal([])
  })

  it('reads no body that is larger than MAX_BODY_BYTES, or than its lists, texts or settings may be, none that is not JSON, and needs one', async () => {
    for (const [request] of DECLARED) {
      const { method, path, body } = requestOf(request, world)
      if (body === undefined) continue
      const statusOf = async (raw: string, type = 'application/json') =>
        (await world.admin.ask(method, path, undefined, { raw, headers: { 'Content-Type': type } })).status
      const bytes = 1024 * (LARGE_BODIES[request] ?? 16)
      const ofLength = (length: number) => `{"unknown":"${'x'.repeat(length - 14)}"}`
      expect([await statusOf(ofLength(bytes)), await statusOf(ofLength(bytes + 1))], request).to.deep.equal([422, 413])
      expect(await statusOf('name=Acme', 'application/x-www-form-urlencoded'), request).to.equal(415)
      expect(await statusOf('{"name":'), request).to.equal(400)
      expect(errorPaths(await world.admin.ask(method, path)), request).to.deep.equal([''])
    }
  })

  it('refuses every lower role, and changes nothing', async () => {
    const browsers = new Map<Role, Browser>()
    for (const role of ROLES) browsers.set(role, await browserOf(world, role))
    const before = await snapshot(world.admin.store)
    for (const [request, lowest] of DECLARED) {
      if (lowest === 'anyone') continue
      for (const role of ROLES.slice(0, ROLES.indexOf(lowest))) {
        const { method, path, body, headers } = requestOf(request, world)
        const answer = await browsers.get(role)?.ask(method, path, body, headers)
        expect(answer?.status, `${request} as ${role}`).to.equal(403)
      }
    }
    expect(await changedSince(before)).to.deep.equal([])
  })

  it('hides another company from its users, and changes nothing', async () => {
    const { admin } = world
    const { company } = await createTenant(admin)
    const stranger = await browserOf({ admin, company }, 'owner')
    const invited = (await browserOf(world, 'invited')).me
    const before = await snapshot(admin.store)
    for (const [request, lowest] of DECLARED) {
      const { method, path, body, elsewhere } = requestOf(request, world, invited)
      if (lowest === 'anyone' || lowest === 'operator' || elsewhere === NO_COMPANY) continue
      const answer = await stranger.ask(method, path, body)
      expect(answer.text, request).not.to.include(world.company).and.not.to.include(world.app)
      if (answer.status === 404)
        expect((await stranger.ask(method, path, body, { Accept: 'text/csv' })).status, `${request} as CSV`).to.equal(
          404,
        )
      if (request === 'GET /companies') expect(answer.body.items.map((one: { id: string }) => one.id)).to.eql([company])
      else if (elsewhere === OWN_LIST) expect(isEmptyList(answer), `${request}: ${answer.text}`).to.equal(true)
      else
        expect(answer.status, `${request}: ${answer.text}`).to.be.oneOf(
          request === 'POST /sandbox/inbound' ? [422] : [404],
        )
    }
    const audit = (await stranger.ask('GET', '/audit')).text
    expect(audit).to.include(company)
    expect(audit).not.to.include(world.company)
    expect(await changedSince(before)).to.deep.equal([])
  })

  it('of a closed company is for operators alone, unless it reads, erases people or leaves', async () => {
    const owner = await browserOf(world, 'owner')
    await world.admin.ask('PATCH', `/companies/${world.company}`, { closed: true })
    const before = await snapshot(world.admin.store)
    for (const [request, lowest] of DECLARED) {
      const { method, path, body } = requestOf(request, world, owner.me)
      if (method === 'GET' || !['developer', 'owner'].includes(lowest) || ALLOWED_WHEN_CLOSED.includes(request))
        continue
      const answer = await owner.ask(method, path, body)
      const isTaken = answer.status === 409 && answer.body.detail.includes('is closed')
      expect(isTaken || answer.status === 404, `${request} ${answer.text}`).to.equal(true)
    }
    // An invitation that is refused still counts as one of the day.
    expect(await changedSince(before)).to.deep.equal(['invitation_times'])
    for (const request of [
      ...DECLARED.map(([one]) => one).filter(one => one.startsWith('GET ')),
      ...ALLOWED_WHEN_CLOSED,
    ]) {
      if (!['viewer', 'developer', 'owner'].includes(expectedRole(request))) continue
      const { method, path, body, headers, succeeds } = requestOf(request, world, owner.me)
      const { status, text } = await owner.ask(method, path, body, headers)
      expect(status, `${request} ${text}`).to.be.oneOf([...succeeds, 409])
    }
    expect((await world.admin.ask('PATCH', `/apps/${world.app}`, { name: 'Other' })).status).to.equal(200)
    expect((await owner.ask('PATCH', `/companies/${world.company}`, { closed: false })).status).to.equal(403)
  })

  it('that a stolen session must not make is refused in one that has not proved lately whose it is, and changes nothing', async () => {
    const { admin } = world
    const [owner, operator] = [await browserOf(world, 'owner'), await browserOf(world, 'operator')]
    const settings = { publishable_send: true, spend_caps: { '*': 5 } }
    await admin.ask('PATCH', `/apps/${world.app}`, { settings })
    const key = (await admin.ask('POST', `/apps/${world.app}/keys`, { kind: 'server', mode: 'live' })).body.id
    await admin.clock.advance(STEP_UP_MS)
    const before = await snapshot(admin.store)
    for (const { refusals, ...one } of OPERATIONS) {
      const request = requestLineOf(one)
      // Passkeys, which there are none of here: sign-in/passkeys.test.ts.
      if (!refusals.includes(stepUpRefusal) || request.includes('/me/passkeys')) continue
      const { method, path, body, headers } = requestOf(request, { ...world, key })
      const byOperator = one.role === 'operator' || request === 'PATCH /companies/{id}'
      for (const given of STEP_UP_BODIES[request] ?? [body]) {
        const answer = await (byOperator ? operator : owner).ask(method, path, given, headers)
        expect(answer.body, `${request} ${answer.text}`).to.include({ status: 403, type: 'StepUpRequiredError' })
      }
    }
    expect(await changedSince(before)).to.deep.equal([])
    for (const [path, body] of [
      [`/apps/${world.app}`, { name: 'Shop 2', settings: { code: { length: 8 } } }],
      [`/endpoints/${world.app.replace('app_', 'whk_')}`, { name: 'ERP', status: 'paused' }],
      [`/companies/${world.company}`, { name: 'Acme Ltd' }],
    ] as const)
      expect((await owner.ask('PATCH', path, body)).status, `${path} with other members`).to.equal(200)
    expect((await owner.ask('POST', `/apps/${world.app}/keys`, { kind: 'server', mode: 'test' })).status).to.equal(201)
    expect((await owner.ask('DELETE', `/keys/${world.key}`)).status, 'a key of test mode').to.equal(204)
  })

  it('answers the lowest role what it reads, which no cache may keep, and changes nothing', async () => {
    const browsers = new Map<string, Browser>()
    for (const role of ROLES) browsers.set(role, await browserOf(world, role))
    const before = await snapshot(world.admin.store)
    for (const [request, lowest] of DECLARED) {
      const { method, path, body, headers, succeeds } = requestOf(request, world)
      if (method !== 'GET') continue
      const answer = await browsers.get(lowest === 'anyone' ? 'viewer' : lowest)?.ask(method, path, body, headers)
      expect(answer?.status, `${request} ${answer?.text}`).to.be.oneOf(succeeds)
      expect(answer?.headers.get('cache-control'), request).to.equal('no-store')
      if (request === 'GET /sandbox/messages') expect(answer?.body).to.have.length(1)
    }
    expect((await changedSince(before)).filter(name => name !== 'audit')).to.deep.equal([])
  })

  for (const [request, lowest] of DECLARED.filter(([one]) => !one.startsWith('GET ')))
    it(`lets the lowest role call it, and records what that changes: ${request} as ${lowest}`, async () => {
      const browser = await browserOf(world, lowest === 'anyone' ? 'viewer' : lowest)
      const { method, path, body, headers, succeeds } = requestOf(request, world, browser.me)
      const before = await snapshot(world.admin.store)
      const answer = await browser.ask(method, path, body, headers)
      expect(answer.status, answer.text).to.be.oneOf(succeeds)
      const changed = await changedSince(before)
      if (changed.length === 0) return
      expect(changed, 'a record').to.include('audit')
      expect((await world.admin.get('/audit?limit=1')).body.items[0]).to.include({ outcome: 'done' })
    })
})

/** Sends the path as it is written: `fetch` would normalise it. */
const statusOf = ({ url }: TestAdmin, method: string, path: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    httpRequest({ hostname, port, method, path }, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
