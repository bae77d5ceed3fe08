// A request to each operation of the admin API that the right role may make, and a company with one of everything that the requests name. A
// new operation needs a line in EXAMPLES.
import type { DeadLetter, DeadLetters, Depth } from '../../infra/broker/broker.ts'
import { ADMIN_PATH, type Role } from '../../services/dashboard/access.ts'
import { OPERATIONS } from '../../services/dashboard/admin-api.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import type { ProviderTestAnswer } from '../../services/domain/tenancy/provider-test.ts'
import { createTenant, startAdmin, type TestAdmin, TOKENS } from './admin-api.ts'
import { type Browser, signIn, userBrowser } from './dashboard-session.ts'
import { startOtpActor } from './otp.actor.ts'
import { testKeyring } from './tenancy.ts'
import { addUser } from './users.ts'

/** Where the documents of other companies can be named beside the path. */
type Elsewhere = 'the list of another company is empty' | 'has no company'

interface Example {
  body?: unknown
  headers?: Record<string, string>
  /** A query, from the question mark on. */
  query?: string
  elsewhere?: Elsewhere
  /** What the right role is answered here, where there are no passkeys; by default it succeeds. */
  answer?: number
}

/** A company with one of everything. */
export interface World {
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
export const OWN_LIST: Elsewhere = 'the list of another company is empty'
export const NO_COMPANY: Elsewhere = 'has no company'

const NEW_PASSKEY = {
  name: 'Laptop',
  credential: {
    id: 'AAAA',
    rawId: 'AAAA',
    type: 'public-key',
    response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
  },
}

/** A request to each operation that the right role may make. Ids in the path are those of `World`. */
export const EXAMPLES: Record<string, Example | ((world: World) => Example)> = {
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
  'DELETE /companies/{id}': { answer: 409 },
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
  'DELETE /apps/{id}': { answer: 409 },
  'GET /apps/{id}/recipients': {},
  'DELETE /recipients/{id}': { answer: 404 },
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
  'POST /apps/{id}/export': { body: { recipient: '+14155550123' } },
  'GET /erasures': {},
  'POST /erasures/replay': { headers: { 'Content-Type': 'application/x-ndjson' } },
  'GET /audit': ({ company }) => ({ query: `?company_id=${company}` }),
}

export const requestLineOf = ({ method, path }: { method: string; path: string }): string =>
  `${method.toUpperCase()} ${path.slice(ADMIN_PATH.length)}`

/** As the operations declare them. */
export const DECLARED = OPERATIONS.map(one => [requestLineOf(one), one.role] as const)

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
export const browserOf = async ({ admin, company }: Pick<World, 'admin' | 'company'>, role: Role): Promise<Browser> =>
  role === 'operator'
    ? signIn(admin.url, { token: TOKENS[1]?.token })
    : (await userBrowser(admin, company, role)).browser

export async function createWorld(store: CountersignStore): Promise<World> {
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
export function requestOf(
  request: string,
  world: World,
  me: Browser['me'] = { id: 'usr_none', session_id: 'ses_none' },
) {
  const found = EXAMPLES[request]
  if (found === undefined) throw new Error(`EXAMPLES has no example of ${request}`)
  const { body, headers = {}, query = '', elsewhere, answer } = typeof found === 'function' ? found(world) : found
  const [method = '', pattern = ''] = request.split(' ')
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
  return {
    method,
    path: path + query,
    body,
    headers,
    elsewhere,
    succeeds: answer === undefined ? [200, 201, 204] : [answer],
  }
}
