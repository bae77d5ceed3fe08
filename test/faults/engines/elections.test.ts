// Primaries of MongoDB that step down, and that are frozen (SIGSTOP) and woken, under load. Every accepted send
// arrives, and so does the event of its delivery; nothing becomes a dead letter. With one member the primary steps down
// and is elected again; with three (`infra/engines.sh run --members 3`), another takes over, and a woken primary
// answers from the past for a moment.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { WORK_QUEUES } from '../../../infra/broker/topology.ts'
import { createCaller } from '../../support/api-caller.ts'
import { type Countersign, createStarter } from '../../support/countersign.ts'
import { AMQP_URL, ENGINES_DIR, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { faultRounds } from '../../support/fault-rounds.ts'
import { startReceiver } from '../../support/receiver.ts'

const ROUNDS = faultRounds(4)
const CALLERS = 8
const ACCEPTED_PER_ROUND = 50
const KEY = 'sk_test_0123456789abcdef'
const PAUSE_MS = 10

onRealEngines('primaries that step down and freeze under load', { AMQP_URL, MONGODB_URL, ENGINES_DIR }, () => {
  const start = createStarter('real')
  const closing: (() => Promise<unknown>)[] = []
  const frozen = new Set<number>()
  // Before the site is wiped, which needs the engines.
  afterEach(async () => {
    for (const pid of frozen) process.kill(pid, 'SIGCONT')
    frozen.clear()
    for (const close of closing.splice(0)) await close()
  })

  it('lose no send, no report and no event', async function () {
    this.timeout(300_000 + ROUNDS * 30_000)
    const admin = new MongoClient(MONGODB_URL ?? '', { serverSelectionTimeoutMS: 30_000 })
    closing.push(() => admin.close())
    const { countersign, arrived } = await startWithEndpoint()
    const accepted = new Set<string>()
    let sending = true
    const caller = createCaller(countersign.url, KEY)
    const sendMany = async (): Promise<void> => {
      while (sending) {
        const answer = await caller.send(freshRecipient())
        if (answer.status === 200) accepted.add(answer.body.otp_id)
        else {
          expect(answer.status, answer.text).to.equal(503)
          await pause()
        }
      }
    }
    const callers = Array.from({ length: CALLERS }, sendMany)
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = accepted.size
      await (round % 2 === 0 ? stepDown(admin) : freezePrimary(admin))
      await eventually(() => expect(accepted.size).to.be.above(before + ACCEPTED_PER_ROUND))
    }
    sending = false
    await Promise.all(callers)

    await eventually(() => {
      const missing = [...accepted].filter(otp_id => !arrived.has(otp_id))
      expect(missing, `of ${accepted.size} accepted`).to.deep.equal([])
    })
    for (const queue of WORK_QUEUES) {
      const letters = await countersign.engines.broker.dead(queue).list(10)
      expect(letters, queue).to.deep.equal([])
    }
    process.stdout.write(`      ${ROUNDS} rounds: ${accepted.size} accepted, no dead letter\n`)
  })

  /** A Countersign with one app, and the verifications of which its endpoint got `delivery.delivered`. */
  async function startWithEndpoint(): Promise<{ countersign: Countersign; arrived: Set<string> }> {
    const arrived = new Set<string>()
    const endpoint = await startReceiver(({ body }, response) => {
      const { type, payload } = JSON.parse(body.toString())
      if (type === 'delivery.delivered') arrived.add(payload.otp_id)
      response.end()
    })
    closing.push(endpoint.close)
    const limits = { app_without_client_ip: [{ max: 1_000_000, seconds: 60 }] }
    const webhook = { url: `http://127.0.0.1:${endpoint.port}/hooks` }
    const app = { id: 'app_shop', name: 'Shop', settings: { limits }, keys: [{ id: 'key_a', key: KEY }], webhook }
    const countersign = await start({
      bootstrap: { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [app] }] },
      env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', WEBHOOK_BACKOFF: '1000,1000,1000', LOG_LEVEL: 'info' },
    })
    return { countersign, arrived }
  }

  async function freezePrimary(admin: MongoClient): Promise<void> {
    const primary = await findPrimary(admin)
    const port = primary.split(':')[1] ?? ''
    const pid = Number(await readFile(join(ENGINES_DIR ?? '', `mongodb-${port}.pid`), 'utf8'))
    const others = admin.options.hosts.map(String).filter(host => host !== primary)
    process.kill(pid, 'SIGSTOP')
    frozen.add(pid)
    if (others.length > 0) await eventually(() => expectAnotherPrimary(others, primary))
    process.kill(pid, 'SIGCONT')
    frozen.delete(pid)
  }
})

async function findPrimary(admin: MongoClient): Promise<string> {
  return eventually(async () => {
    const { primary } = await admin.db('admin').command({ hello: 1 })
    expect(primary).to.be.a('string')
    return primary
  })
}

async function stepDown(admin: MongoClient): Promise<void> {
  await findPrimary(admin)
  // The primary may close the connection instead of answering.
  const command = { replSetStepDown: 1, secondaryCatchUpPeriodSecs: 1, force: true }
  await admin
    .db('admin')
    .command(command)
    .catch(() => {})
}

/** Asks one of the others directly: the driver may still wait for the frozen one. */
async function expectAnotherPrimary(others: readonly string[], primary: string): Promise<void> {
  const client = new MongoClient(`mongodb://${others[0]}/?directConnection=true`, { serverSelectionTimeoutMS: 5_000 })
  try {
    const hello = await client.db('admin').command({ hello: 1 })
    expect(hello.primary).to.be.a('string').and.not.equal(primary)
  } finally {
    await client.close()
  }
}

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, PAUSE_MS))

let numbers = 0
function freshRecipient(): string {
  numbers += 1
  return `person${numbers}@example.com`
}
