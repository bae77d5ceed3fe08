// A production deployment in which each role is a process with its own secrets only, each secret in a file, and with
// users of its own at both engines, which have the rights of infra/deploy/rights.ts and no others.
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { type Channel, connect } from 'amqplib'
import { expect } from 'chai'
import { type Collection, MongoClient, MongoServerError } from 'mongodb'
import { ROLES, type Role } from '../../../infra/config/config.ts'
import { ROLE_SECRETS, type SecretName } from '../../../infra/config/role-secrets.ts'
import { ACTIONS, type Action, collectionsOf } from '../../../infra/deploy/rights.ts'
import { COLLECTIONS } from '../../../services/domain/collections.ts'
import { ask, createCaller } from '../../support/api-caller.ts'
import { AMQP_URL, ENGINES_DIR, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { freshNumber, wrongCode } from '../../support/flow.ts'
import { type GuardedEngines, startGuardedEngines } from '../../support/guarded-engines.ts'
import { codeIn } from '../../support/live-flow.ts'
import { type CountersignProcess, useProcesses } from '../../support/processes.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import type { Env, Site } from '../../support/site.ts'
import { type HttpGateway, startHttpGateway } from '../../support/vendors/http-gateway.ts'

const APP = 'app_shop'
const key = (prefix: string): string => `${prefix}_${randomBytes(16).toString('hex')}`
const KEYS = { serverTest: key('sk_test'), deviceTest: key('pk_test'), serverLive: key('sk_live') }
const ADMIN_TOKEN = randomBytes(16).toString('hex')

onRealEngines('roles as processes with their own secrets and users only', { AMQP_URL, ENGINES_DIR }, () => {
  const { site, main } = useProcesses()
  const running = new Map<Role, CountersignProcess>()
  let engines: GuardedEngines
  let gateway: HttpGateway
  let backend: Receiver
  let edgeUrl = ''
  beforeEach(async () => {
    gateway = await startHttpGateway({ callbackUrl: () => `${edgeUrl}/callbacks/${APP}/gateway` })
    gateway.always({ receipts: ['delivered'] })
    backend = await startReceiver()
    engines = await startGuardedEngines()
  })
  afterEach(() => Promise.all([gateway.close(), backend.close(), engines.close()]))

  const bootstrap = () => ({
    companies: [
      {
        id: 'cmp_acme',
        apps: [
          {
            id: APP,
            name: 'Shop',
            settings: { resend_cooldown_seconds: [0], routing: { default: ['sms'] } },
            keys: Object.values(KEYS).map((value, at) => ({ id: `key_${at}`, key: value })),
            webhook: { url: `http://127.0.0.1:${backend.port}/hooks` },
            providers: [
              { name: 'gateway', channel: 'sms', type: 'http', config: { url: gateway.url, secret: gateway.secret } },
            ],
          },
        ],
      },
    ],
  })

  /** One file for each secret, and none in the environment. */
  async function secretFiles(here: Site): Promise<Record<SecretName, string>> {
    const keyOf = (id: string): string => `${id}:${randomBytes(32).toString('base64')}\n`
    return {
      CODE_SECRETS: await here.write('code-secrets', keyOf('c')),
      DATA_KEYS: await here.write('data-keys', keyOf('d')),
      ADMIN_TOKEN: await here.write('admin-token', `${ADMIN_TOKEN}\n`),
    }
  }

  async function startRoles(): Promise<Map<Role, string>> {
    const here = await site('embedded')
    const files = await secretFiles(here)
    const settings: Env = {
      NODE_ENV: 'production',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      CHANNEL_BACKOFF: '200',
      WEBHOOK_BACKOFF: '200',
      LOG_LEVEL: 'info',
    }
    const BOOTSTRAP_FILE = await here.write('bootstrap.json', bootstrap())
    for (const role of ROLES) {
      const ownSecrets = Object.fromEntries(ROLE_SECRETS[role].map(name => [`${name}_FILE`, files[name]]))
      const env = {
        ...settings,
        ...ownSecrets,
        MONGODB_URL_FILE: engines.file(role, 'mongodb'),
        AMQP_URL_FILE: engines.file(role, 'amqp'),
        ...(role === 'dashboard' ? { BOOTSTRAP_FILE } : {}),
      }
      running.set(role, main(here, env, [role]))
    }
    const urls = [...running].map(async ([role, one]) => [role, await one.ready()] as const)
    return new Map(await Promise.all(urls))
  }

  /** What a process logs where an engine refuses its user. */
  const refusals = (): string[] =>
    [...running.values()]
      .flatMap(({ lines }) => lines)
      .filter(line => /not authorized|unauthorized|access.refused|cannot do this/i.test(line))

  it('send, resend, verify, cancel, exchange, show states, take callbacks and deliver events', async () => {
    for (const name of ['CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN'])
      expect(process.env[name], 'processes inherit nothing').to.equal(undefined)
    const urls = await startRoles()
    const refusedAtStart = refusals().length
    edgeUrl = urls.get('edge') ?? ''
    const [server, device] = [createCaller(edgeUrl, KEYS.serverTest), createCaller(edgeUrl, KEYS.deviceTest)]
    const admin = (path: string) => ask(`${urls.get('dashboard')}/admin/v1${path}`, { token: ADMIN_TOKEN })
    const waitForCode = (recipient: string, messages = 1): Promise<string> =>
      eventually(async () => {
        const { body } = await admin(`/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)
        expect(body).to.have.length(messages)
        return body[0].code
      })

    // Test mode: send, resend, a wrong code, the right one.
    const to = freshNumber()
    const { otp_id } = (await server.send(to)).body
    const first = await waitForCode(to)
    expect((await server.resend(otp_id, 'sms')).status).to.equal(200)
    const code = await waitForCode(to, 2)
    expect(code, 'a named channel makes a fresh code').not.to.equal(first)
    expect((await server.verify(otp_id, wrongCode(code))).body).to.include({ matched: false, status: 'pending' })
    expect((await server.verify(otp_id, code)).body).to.include({ matched: true, status: 'approved' })
    expect((await server.status(otp_id)).body).to.include({ status: 'approved' })

    // A device's verification is exchanged; another is canceled.
    const byDevice = freshNumber()
    const started = (await device.send(byDevice)).body.otp_id
    const { verification_token } = (await device.verify(started, await waitForCode(byDevice))).body
    expect((await server.exchange(verification_token)).body).to.include({ otp_id: started, recipient: byDevice })
    const canceled = (await server.send(freshNumber())).body.otp_id
    expect((await server.cancel(canceled)).body).to.include({ status: 'canceled' })

    // Live mode: the message leaves, its receipt comes back through the edge, and the backend is told.
    const live = createCaller(edgeUrl, KEYS.serverLive)
    const sent = (await live.send(freshNumber())).body.otp_id
    await eventually(async () => expect((await live.status(sent)).body.deliveries[0].status).to.equal('delivered'))
    expect(gateway.calls.map(({ status }) => status)).to.deep.equal([200])
    const delivered = gateway.messages[0]?.requestBody
    expect((await live.verify(sent, codeIn(delivered))).body).to.include({ matched: true })
    await eventually(() => {
      const events = backend.received.map(({ body }) => JSON.parse(body.toString()))
      const types = events.filter(({ payload }) => payload.otp_id === sent).map(({ type }) => type)
      expect(types).to.include.members(['delivery.delivered', 'otp.approved'])
    })

    // The edge's other pages. It has no operators, so it has no /metrics at the public port.
    for (const path of ['/openapi.json', '/docs', '/healthz', '/readyz']) {
      const page = await fetch(`${edgeUrl}${path}`)
      await page.text()
      expect(page.status, path).to.equal(200)
    }
    expect((await ask(`${edgeUrl}/metrics`, { token: ADMIN_TOKEN })).status).to.equal(404)

    // Operators work, dead letters and the client API on the dashboard's address included. No user was refused anything.
    const { status, body: queues } = await admin('/queues')
    expect([status, queues.every(({ consumers }: { consumers: number }) => consumers > 0)]).to.deep.equal([200, true])
    for (const path of [
      '/queues/channel.sms/dead',
      `/verifications/${sent}`,
      `/apps/${APP}/stats`,
      '/audit',
      '/refusals',
    ])
      expect((await admin(path)).status, path).to.equal(200)
    const posted = await ask(`${urls.get('dashboard')}/admin/v1/companies`, {
      method: 'POST',
      token: ADMIN_TOKEN,
      body: JSON.stringify({ name: 'Another' }),
    })
    expect(posted.status).to.equal(201)
    // For its own pages it also serves the client API.
    const signedIn = await fetch(`${urls.get('dashboard')}/admin/v1/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: ADMIN_TOKEN }),
    })
    const cookie = signedIn.headers
      .getSetCookie()
      .map(one => one.split(';')[0])
      .join('; ')
    const byDashboard = await ask(`${urls.get('dashboard')}/api/v1/otp/send`, {
      method: 'POST',
      token: KEYS.serverTest,
      headers: { cookie },
      body: JSON.stringify({ recipient: freshNumber() }),
    })
    expect(byDashboard.status).to.equal(200)
    expect(refusals().slice(refusedAtStart)).to.deep.equal([])

    await expectOnlyTheRightsOfTheTable()
    await expectOnlyOwnQueues()
  })

  /** Tries every action on every collection, as every role. */
  async function expectOnlyTheRightsOfTheTable(): Promise<void> {
    for (const role of ROLES) {
      const client = new MongoClient(engines.url(role, 'mongodb'))
      try {
        const db = client.db()
        for (const action of ACTIONS) {
          const allowed: string[] = []
          for (const name of Object.keys(COLLECTIONS))
            if (await mayDo(() => TRIES[action](db.collection<{ _id: string }>(name)))) allowed.push(name)
          expect(allowed.sort(), `${role} ${action}`).to.deep.equal([...collectionsOf(role, action)].sort())
        }
        const index = () => db.collection('otps').createIndex({ _id: 1 })
        expect(await mayDo(index), `${role} makes indexes`).to.equal(role === 'sweeper')
      } finally {
        await client.close()
      }
    }
  }

  /** As the edge, which strangers reach. */
  async function expectOnlyOwnQueues(): Promise<void> {
    const connection = await connect(engines.url('edge', 'amqp'))
    const isRefused = async (task: (channel: Channel) => Promise<unknown>): Promise<boolean> => {
      const channel = await connection.createChannel()
      channel.on('error', () => {})
      return task(channel).then(
        () => false,
        error => error.code === 403,
      )
    }
    try {
      const queue = 'countersign.v1.channel.sms'
      expect(await isRefused(channel => channel.consume(queue, () => {})), 'consumes').to.equal(true)
      expect(await isRefused(channel => channel.purgeQueue(queue)), 'purges').to.equal(true)
      expect(await isRefused(channel => channel.deleteQueue(queue)), 'deletes').to.equal(true)
      expect(await isRefused(channel => channel.checkQueue(queue)), 'looks').to.equal(false)
    } finally {
      await connection.close()
    }
  }
})

/** They change nothing that is there. */
const TRIES: Record<Action, (docs: Collection<{ _id: string }>) => Promise<unknown>> = {
  find: docs => docs.findOne({ _id: 'none' }),
  insert: docs => docs.insertOne({ _id: `tried-${randomBytes(8).toString('hex')}` }),
  update: docs => docs.updateOne({ _id: 'none' }, { $set: { tried: true } }),
  remove: docs => docs.deleteOne({ _id: 'none' }),
}

const UNAUTHORIZED = 13

/** A unique index may refuse the document, which is not for lack of a right. */
const mayDo = (task: () => Promise<unknown>): Promise<boolean> =>
  task().then(
    () => true,
    error => !(error instanceof MongoServerError && error.code === UNAUTHORIZED),
  )
