// Every operation of the admin API with every kind of caller (no session, a lower role, another company, the right role), and with
// requests that none of them takes: unknown ids, unknown members, bodies that are too large. A new operation needs a line in
// test/support/operation-examples.ts, and one in ROLE_OF unless it needs the usual role.
import { request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { ROLES, type Role } from '../../../services/dashboard/access.ts'
import { OPERATIONS } from '../../../services/dashboard/admin-api.ts'
import { noContent } from '../../../services/dashboard/answers.ts'
import { operation } from '../../../services/dashboard/operation.ts'
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

const LARGE_BODIES = [
  'PUT /prices',
  'POST /prices/try',
  'POST /companies/{id}/apps',
  'PATCH /apps/{id}',
  'POST /apps/{id}/settings/try',
  'POST /apps/{id}/events/fetch',
  'PUT /ip-lists',
]

onEmbeddedStore('an operation of the admin API', fresh => {
  let world: World
  beforeEach(async () => {
    world = await createWorld(await fresh())
  })
  afterEach(closeAdmins)

  it('has an example here, and needs the role that is expected here', () => {
    const expected = Object.keys(EXAMPLES).map(request => [request, expectedRole(request)])
    expect(Object.fromEntries(DECLARED)).to.deep.equal(Object.fromEntries(expected))
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
      const answer = await world.admin.ask(method, path, body, { token: null, headers })
      expect(answer.status, request).to.equal(401)
      expect(answer.body.type).to.equal('HTTPException')
    }
    expect(await snapshot(world.admin.store)).to.deep.equal(before)
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
      if (!request.includes('{') || request.includes('{queue}')) continue
      const { method, path, body, headers } = requestOf(request, unknown)
      const answer = await admin.ask(method, path, body, { headers })
      expect(answer.body, request).to.include({ type: 'HTTPException', status: 404 })
    }
    for (const id of [world.app, '%00%ff']) expect((await admin.get(`/companies/${id}`)).status, id).to.equal(404)
    expect(await snapshot(admin.store)).to.deep.equal(before)
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
    expect(await snapshot(admin.store)).to.deep.equal(before)
  })

  it('reads no body that is larger than MAX_BODY_BYTES, unless it takes lists, texts or settings', async () => {
    const read: string[] = []
    for (const [request] of DECLARED) {
      const { method, path, body } = requestOf(request, world)
      if (body === undefined) continue
      const { status } = await world.admin.ask(method, path, { ...body, unknown: 'x'.repeat(17_000) })
      expect(status, request).to.be.oneOf([413, 422])
      if (status === 422) read.push(request)
    }
    expect(read).to.have.members(LARGE_BODIES)
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
    expect(await snapshot(world.admin.store)).to.deep.equal(before)
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

  for (const [request, lowest] of DECLARED)
    it(`lets the lowest role call it: ${request} as ${lowest}`, async () => {
      const browser = await browserOf(world, lowest === 'anyone' ? 'viewer' : lowest)
      const { method, path, body, headers, succeeds } = requestOf(request, world, browser.me)
      const answer = await browser.ask(method, path, body, headers)
      expect(answer.status, answer.text).to.be.oneOf(succeeds)
      if (request === 'GET /sandbox/messages') expect(answer.body).to.have.length(1)
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
