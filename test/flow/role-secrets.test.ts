// A production deployment in which each role is a process with its own secrets only, each secret in a file.
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { expect } from 'chai'
import type { Role } from '../../infra/config/config.ts'
import { ROLE_SECRETS, type SecretName } from '../../infra/config/role-secrets.ts'
import { ask, createCaller } from '../support/api-caller.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber, wrongCode } from '../support/flow.ts'
import { codeIn } from '../support/live-flow.ts'
import { type CountersignProcess, useProcesses } from '../support/processes.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import type { Env, Site } from '../support/site.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

const PROCESSES: readonly Role[][] = [['edge'], ['otp'], ['channel:sms'], ['webhook', 'sweeper'], ['dashboard']]
const APP = 'app_shop'
const key = (prefix: string): string => `${prefix}_${randomBytes(16).toString('hex')}`
const KEYS = { serverTest: key('sk_test'), deviceTest: key('pk_test'), serverLive: key('sk_live') }
const ADMIN_TOKEN = randomBytes(16).toString('hex')

onRealEngines('roles as processes with their own secrets only', { AMQP_URL, MONGODB_URL }, () => {
  const { site, crashing } = useProcesses()
  let gateway: HttpGateway
  let backend: Receiver
  let edgeUrl = ''
  beforeEach(async () => {
    gateway = await startHttpGateway({ callbackUrl: () => `${edgeUrl}/callbacks/${APP}/gateway` })
    gateway.always({ receipts: ['delivered'] })
    backend = await startReceiver()
  })
  afterEach(() => Promise.all([gateway.close(), backend.close()]))

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
  async function secretFiles(here: Site): Promise<Record<SecretName | 'MONGODB_URL' | 'AMQP_URL', string>> {
    const keyOf = (id: string): string => `${id}:${randomBytes(32).toString('base64')}\n`
    return {
      MONGODB_URL: await here.write('mongodb-url', `${here.env.MONGODB_URL}\n`),
      AMQP_URL: await here.write('amqp-url', `${here.env.AMQP_URL}\n`),
      CODE_SECRETS: await here.write('code-secrets', keyOf('c')),
      DATA_KEYS: await here.write('data-keys', keyOf('d')),
      ADMIN_TOKEN: await here.write('admin-token', `${ADMIN_TOKEN}\n`),
    }
  }

  async function startRoles(): Promise<Map<Role, string>> {
    const here = await site('real')
    const files = await secretFiles(here)
    const settings: Env = {
      NODE_ENV: 'production',
      MONGODB_URL: '',
      AMQP_URL: '',
      MONGODB_URL_FILE: files.MONGODB_URL,
      AMQP_URL_FILE: files.AMQP_URL,
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      CHANNEL_BACKOFF: '200',
      WEBHOOK_BACKOFF: '200',
      LOG_LEVEL: 'info',
    }
    const BOOTSTRAP_FILE = await here.write('bootstrap.json', bootstrap())
    const startProcess = (roles: Role[]): CountersignProcess => {
      const names = new Set(roles.flatMap(role => ROLE_SECRETS[role]))
      const ownSecrets = Object.fromEntries([...names].map(name => [`${name}_FILE`, files[name]]))
      const env = { ...settings, ...ownSecrets, ...(roles.includes('edge') ? { BOOTSTRAP_FILE } : {}) }
      return crashing(here, { env, roles })
    }
    const running = PROCESSES.map(startProcess)
    const urls = await Promise.all(running.map(one => one.ready()))
    return new Map(PROCESSES.flatMap((roles, at) => roles.map(role => [role, urls[at] ?? ''] as const)))
  }

  it('send, resend, verify, cancel, exchange, show states, take callbacks and deliver events', async function () {
    this.timeout(180_000)
    for (const name of ['CODE_SECRETS', 'DATA_KEYS', 'ADMIN_TOKEN'])
      expect(process.env[name], 'processes inherit nothing').to.equal(undefined)
    const urls = await startRoles()
    edgeUrl = urls.get('edge') ?? ''
    const [server, device] = [createCaller(edgeUrl, KEYS.serverTest), createCaller(edgeUrl, KEYS.deviceTest)]
    const admin = (path: string) => ask(`${urls.get('dashboard')}/admin/v1${path}`, { token: ADMIN_TOKEN })
    const waitForCode = (recipient: string, messages = 1): Promise<string> =>
      eventually(async () => {
        const { body } = await admin(`/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)
        expect(body).to.have.length(messages)
        return body[0].code
      }, 60_000)

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
    await eventually(
      async () => expect((await live.status(sent)).body.deliveries[0].status).to.equal('delivered'),
      60_000,
    )
    expect(gateway.calls.map(({ status }) => status)).to.deep.equal([200])
    const delivered = gateway.messages[0]?.requestBody
    expect((await live.verify(sent, codeIn(delivered))).body).to.include({ matched: true })
    await eventually(() => {
      const events = backend.received.map(({ body }) => JSON.parse(body.toString()))
      const types = events.filter(({ payload }) => payload.otp_id === sent).map(({ type }) => type)
      expect(types).to.include.members(['delivery.delivered', 'otp.approved'])
    }, 60_000)

    // The edge's other pages. It has no operators, so it has no /metrics at the public port.
    for (const path of ['/openapi.json', '/docs', '/healthz', '/readyz']) {
      const page = await fetch(`${edgeUrl}${path}`)
      await page.text()
      expect(page.status, path).to.equal(200)
    }
    expect((await ask(`${edgeUrl}/metrics`, { token: ADMIN_TOKEN })).status).to.equal(404)
  })
})
