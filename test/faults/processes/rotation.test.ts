// kill -9 during a rotation of DATA_KEYS, again and again, while sends go on. The rotation continues after each restart, ends, and then no
// process needs the old key.
import { Buffer } from 'node:buffer'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { ask, createCaller } from '../../support/api-caller.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { useProcesses } from '../../support/processes.ts'
import { untilReady } from '../../support/ready.ts'
import { onEachEngineSet } from '../../support/site.ts'

const TOKEN = 'a-token-of-the-operator'
const KEY = 'sk_test_rotation0123456789'
const [OLD, NEW] = ['old', 'new'].map((id, at) => `${id}:${Buffer.alloc(32, at + 1).toString('base64')}`)

const HIGH_LIMIT = [{ max: 100_000, seconds: 60 }]
const LOOK_EVERY_MS = 10
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_1',
      name: 'Acme',
      apps: [
        {
          id: 'app_1',
          name: 'Shop',
          settings: { code: { ttl_seconds: 3600 }, limits: { app_without_client_ip: HIGH_LIMIT } },
          keys: [{ id: 'key_1', key: KEY }],
        },
      ],
    },
  ],
}

const POINTS: readonly CrashPoint[] = [
  { port: 'store', method: 'rotations.insert', nth: 1, when: 'after' },
  { port: 'store', method: 'sandbox_messages.modify', nth: 5, when: 'after' },
  { port: 'store', method: 'otps.change', nth: 1, when: 'before' },
  { port: 'store', method: 'otps.change', nth: 2, when: 'after' },
  { port: 'store', method: 'rotations.change', nth: 2, when: 'before' },
]

onEachEngineSet('a rotation of data keys and kill -9', engines => {
  const { site, crashing } = useProcesses()

  it('ends, and loses no verification', async () => {
    const env = { ADMIN_TOKEN: TOKEN, LOG_LEVEL: 'info', CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200' }
    const fresh = await site(engines, env)
    const BOOTSTRAP_FILE = await fresh.write('bootstrap.json', BOOTSTRAP)
    const since = String(Date.now())
    const start = async (dataKeys: string, point?: CrashPoint) => {
      const { url, kill, exited } = crashing(fresh, {
        point,
        env: { BOOTSTRAP_FILE, SINCE: since, DATA_KEYS: dataKeys },
      })
      return { url: await url(), kill, exited }
    }
    const accepted = new Map<string, string>()
    let sends = 0
    /** The recipient, when the send was accepted. */
    const send = async (url: string): Promise<string | null> => {
      sends += 1
      const recipient = `+1415558${String(sends).padStart(4, '0')}`
      const answer = await createCaller(url, KEY).send(recipient)
      if (answer.status !== 200) return null
      accepted.set(recipient, answer.body.otp_id)
      return recipient
    }
    const inboxOf = async (url: string, recipient: string) =>
      (await ask(`${url}/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`, { token: TOKEN })).body
    /** Ends with the process. Each send follows the arrival of the message before it, so that their number stays small. */
    const sendUntilKilled = async (url: string): Promise<void> => {
      for (;;) {
        const recipient = await send(url)
        do await setTimeout(LOOK_EVERY_MS)
        while (recipient !== null && (await inboxOf(url, recipient)).length !== 1)
      }
    }

    const first = await start(OLD ?? '')
    await untilReady(first.url)
    await Promise.all(Array.from({ length: 40 }, () => send(first.url)))
    expect(accepted.size).to.equal(40)
    await eventually(async () => {
      const { body } = await ask(`${first.url}/admin/v1/sandbox/messages`, { token: TOKEN })
      expect(body).to.have.length(40)
    })
    await first.kill()

    for (const point of stepsOn(engines, POINTS)) {
      const { url, exited } = await start(`${NEW},${OLD}`, point)
      const traffic = sendUntilKilled(url).catch(() => {})
      expect((await exited).signal, JSON.stringify(point)).to.equal('SIGKILL')
      await traffic
    }

    const last = await start(`${NEW},${OLD}`)
    await untilReady(last.url)
    await eventually(async () => {
      const { body } = await ask(`${last.url}/admin/v1/privacy`, { token: TOKEN })
      // How many were renewed is not asserted: a process that is killed before it saves its count has renewed them all the same. That all
      // are renewed shows below, without the old key.
      expect(body.rotation).to.include({ state: 'done', unsealable: 0 })
    })
    await last.kill()

    const { url } = await start(NEW ?? '')
    await untilReady(url)
    for (const [recipient, otp_id] of accepted)
      await eventually(async () => {
        const inbox = await inboxOf(url, recipient)
        expect(inbox, recipient).to.have.length(1)
        expect(inbox[0].otp_id).to.equal(otp_id)
        const { body } = await createCaller(url, KEY).verify(otp_id, inbox[0].code)
        expect(body).to.include({ matched: true })
      })
  })
})
