// Engines that are killed, and frozen (SIGSTOP), while clients call. Once a process knows that an engine is away, it refuses its callers
// without asking the engine, and goes on when the engine is back.
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../../infra/web/built-site.ts'
import { type Answer, ask, createCaller } from '../../support/api-caller.ts'
import { AMQP_URL, ENGINES_DIR, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { useProcesses } from '../../support/processes.ts'
import { untilReady } from '../../support/ready.ts'

const KEY = 'sk_test_0123456789abcdef'
const ADMIN_TOKEN = 'away-engines-0123456789abcdef'
const SCRIPT = join(PROJECT_ROOT, 'infra/engines.sh')
/** Each would take seconds if it waited for an engine, and the test has not the time for so many. */
const CALLS_WHILE_AWAY = 50
const LOOKS_WHILE_AWAY = 12
const METRICS_TOKEN = 'a-token-of-prometheus'
const TEST_MS = 400_000

type Engine = 'mongodb' | 'rabbitmq'

onRealEngines('calls while an engine is away', { AMQP_URL, MONGODB_URL, ENGINES_DIR }, () => {
  let frozen: number[] = []
  let killed: Engine | null = null
  const engines = async (...args: string[]): Promise<void> => void (await promisify(execFile)(SCRIPT, args))

  async function kill(engine: Engine): Promise<void> {
    killed = engine
    await engines('kill', engine)
  }

  async function freeze(engine: Engine): Promise<void> {
    const folder = ENGINES_DIR ?? ''
    const files = (await readdir(folder)).filter(name => name.startsWith(engine) && name.endsWith('.pid'))
    frozen = await Promise.all(files.map(async file => Number(await readFile(join(folder, file), 'utf8'))))
    expect(frozen).to.not.be.empty
    for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  }

  async function bringBack(): Promise<void> {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
    frozen = []
    const down = killed
    killed = null
    if (down !== null) await engines('resume', down)
  }

  // Before the sites are wiped, which needs the engines.
  afterEach(async function () {
    this.timeout(TEST_MS)
    await bringBack()
  })
  const { site, crashing } = useProcesses()

  async function start() {
    const here = await site('real')
    const limits = { app_without_client_ip: [{ max: 1_000_000, seconds: 60 }] }
    const app = { id: 'app_shop', name: 'Shop', settings: { limits }, keys: [{ id: 'key_a', key: KEY }] }
    const bootstrap = { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [app] }] }
    const env = { ADMIN_TOKEN, BOOTSTRAP_FILE: await here.write('bootstrap.json', bootstrap) }
    // The first one makes the secrets that the others share.
    const otp = crashing(here, { env, roles: ['otp'] })
    await otp.ready()
    const [edge, dashboard] = [crashing(here, { env, roles: ['edge'] }), crashing(here, { env, roles: ['dashboard'] })]
    const [edgeUrl, dashboardUrl] = await Promise.all([edge.ready(), dashboard.ready()])
    const caller = createCaller(edgeUrl, KEY)
    const send = (): Promise<Answer> => caller.send(freshRecipient())
    const status = (): Promise<Answer> => caller.status('otp_0000000000000000000000')
    const admin = (path: string) => (): Promise<Answer> =>
      ask(`${dashboardUrl}/admin/v1${path}`, { token: ADMIN_TOKEN })
    return { send, status, showApp: admin('/apps/app_shop'), listQueues: admin('/queues') }
  }

  const expectStatus = (call: () => Promise<Answer>, expected: number): Promise<Answer> =>
    eventually(async () => {
      const answer = await call()
      expect(answer.status, answer.text).to.equal(expected)
      return answer
    })

  async function expectRefusedAtOnce(call: () => Promise<Answer>): Promise<void> {
    const times: number[] = []
    for (let calls = 0; calls < CALLS_WHILE_AWAY; calls += 1) {
      const startedAt = performance.now()
      const { status, headers } = await call()
      times.push(Math.round(performance.now() - startedAt))
      expect(status).to.equal(503)
      expect(headers.get('retry-after')).to.equal('1')
    }
    process.stdout.write(`      refused in ${medianOf(times)} ms (median), ${Math.max(...times)} ms (slowest)\n`)
  }

  const WAYS = [kill, freeze]

  it('are refused by edge, otp and dashboard without asking a MongoDB that is killed or frozen, until it is back', async function () {
    this.timeout(TEST_MS)
    const { send, status, showApp } = await start()
    await expectStatus(send, 200)
    for (const takeAway of WAYS) {
      await takeAway('mongodb')
      // Each process finds out by itself.
      await Promise.all([expectStatus(send, 503), expectStatus(status, 503), expectStatus(showApp, 503)])
      await eventually(async () => expect((await send()).body).to.include({ status: 503, executed: false }))
      for (const call of [send, status, showApp]) await expectRefusedAtOnce(call)
      await bringBack()
      await Promise.all([expectStatus(send, 200), expectStatus(status, 404), expectStatus(showApp, 200)])
    }
  })

  it('are refused by edge and dashboard without asking a RabbitMQ that is killed or frozen, until it is back', async function () {
    this.timeout(TEST_MS)
    const { send, status, listQueues, showApp } = await start()
    await expectStatus(send, 200)
    for (const takeAway of WAYS) {
      await takeAway('rabbitmq')
      await Promise.all([expectStatus(send, 503), expectStatus(listQueues, 503)])
      await eventually(async () => expect((await send()).body).to.include({ status: 503, executed: false }))
      for (const call of [send, listQueues]) await expectRefusedAtOnce(call)
      // What needs no RabbitMQ is answered.
      expect((await status()).status).to.equal(404)
      expect((await showApp()).status).to.equal(200)
      await bringBack()
      await Promise.all([expectStatus(send, 200), expectStatus(listQueues, 200)])
    }
  })

  it('keep nobody from looking at a process: metrics and health are answered within a second from the first moment on', async function () {
    this.timeout(TEST_MS)
    const here = await site('real', { METRICS_TOKEN })
    const [sweeper, otp] = [crashing(here, { roles: ['sweeper'] }), crashing(here, { roles: ['otp'] })]
    const urls = [await sweeper.ready(), await otp.ready()]
    for (const engine of ['mongodb', 'rabbitmq'] as const)
      for (const takeAway of WAYS) {
        await takeAway(engine)
        for (const url of urls)
          for (const [path, statuses] of LOOKS) {
            const times: number[] = []
            for (let looks = 0; looks < LOOKS_WHILE_AWAY; looks += 1) {
              const startedAt = Date.now()
              const { status } = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
              times.push(Date.now() - startedAt)
              expect(status).to.be.oneOf(statuses)
            }
            // A busy machine may delay one of them.
            expect(medianOf(times), `${path} without ${engine}`).to.be.below(1_000)
          }
        await bringBack()
        await Promise.all(urls.map(untilReady))
      }
  })
})

const LOOKS: [path: string, statuses: number[]][] = [
  ['/metrics', [200]],
  ['/healthz', [200]],
  ['/readyz', [200, 503]],
]

const medianOf = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0

let numbers = 0
function freshRecipient(): string {
  numbers += 1
  return `person${numbers}@example.com`
}
