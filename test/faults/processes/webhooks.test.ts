// kill -9 of the process that sends events, between any two steps; and a broker that loses all messages. No event is lost, and one that
// arrives twice has the same bytes.
import { expect } from 'chai'
import { createTopology } from '../../../infra/broker/topology.ts'
import { readConfig } from '../../../infra/config/config.ts'
import { brokerDelays } from '../../../services/domain/webhooks/retry-waits.ts'
import { ask, createCaller } from '../../support/api-caller.ts'
import { createStarter } from '../../support/countersign.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { useProcesses } from '../../support/processes.ts'
import { removeQueues } from '../../support/rabbitmq.ts'
import { type AnswerRequest, type Receiver, startReceiver } from '../../support/receiver.ts'
import { createRunningClock } from '../../support/running-clock.ts'
import { type EngineSet, onEachEngineSet } from '../../support/site.ts'
import { createWebhookSite, type WebhookSite } from '../../support/webhook-site.ts'

const respond500: AnswerRequest = (_, response) => void response.writeHead(500).end()

/** The steps of an event. `refused`: its endpoint answers 500 until the restart. */
const STEPS: { what: string; point: CrashPoint; refused?: boolean }[] = [
  {
    what: 'before its message is handled',
    point: { port: 'broker', method: 'handle', queue: 'webhook.deliver', nth: 1, when: 'before' },
  },
  { what: 'before it is stored', point: { port: 'store', method: 'events.insert', nth: 1, when: 'before' } },
  {
    what: 'after it is stored as started, before the call',
    point: { port: 'store', method: 'events.insert', nth: 1, when: 'after' },
  },
  {
    what: 'after the call, before its result is written',
    point: { port: 'store', method: 'events.change', nth: 1, when: 'before' },
  },
  { what: 'after the result is written', point: { port: 'store', method: 'events.change', nth: 1, when: 'after' } },
  {
    what: 'before the failure of its endpoint is counted',
    point: { port: 'store', method: 'webhooks.change', nth: 1, when: 'before' },
    refused: true,
  },
  {
    what: 'after the failure is counted, before the result is written',
    point: { port: 'store', method: 'webhooks.change', nth: 1, when: 'after' },
    refused: true,
  },
  {
    what: 'before the reminder of its retry is published',
    point: { port: 'store', method: 'events.change', nth: 1, when: 'after' },
    refused: true,
  },
  {
    what: 'before its second attempt is started',
    point: { port: 'store', method: 'events.change', nth: 2, when: 'before' },
    refused: true,
  },
  {
    what: 'after its second attempt is started',
    point: { port: 'store', method: 'events.change', nth: 2, when: 'after' },
    refused: true,
  },
]

onEachEngineSet('an event whose process is killed', engines => {
  const { site, crashing } = useProcesses()
  let here: WebhookSite
  afterEach(() => here.close())

  for (const { what, point, refused = false } of stepsOn(engines, STEPS))
    it(`${what} arrives`, async () => {
      here = await createWebhookSite({ site, crashing }, engines)
      if (refused) here.respondWith(respond500)
      const dying = await here.start(point)
      await here.startVerification(dying.url)
      expect((await dying.exited).signal).to.equal('SIGKILL')
      here.respondWith((_, response) => void response.end())
      const { url } = await here.start()
      // The process may have died before it answered the send. It was stored all the same, because its event was under way.
      const [mine, ...others] = (await here.admin(url, '/verifications')).body.items
      expect(others).to.deep.equal([])
      await eventually(async () => {
        const { items } = (await here.admin(url, '/events')).body
        const states = items.map((event: { payload: { otp_id: string }; status: string }) => event.status)
        expect(states, 'there are events').to.have.length.above(0)
        expect(new Set(states)).to.deep.equal(new Set(['delivered']))
        expect(here.notifiedOtpIds()).to.deep.equal([mine.otp_id])
      })
      for (const bodies of here.bodiesByEvent().values()) expect(new Set(bodies).size, 'the same bytes').to.equal(1)
    })
})

onEachEngineSet('events of a broker that loses all messages', (engines: EngineSet) => {
  const start = createStarter(engines)
  const KEY = 'sk_test_hooks0123456789'
  let backend: Receiver
  afterEach(() => backend.close())

  it('arrive', async () => {
    let accepting = false
    backend = await startReceiver((_, response) => void response.writeHead(accepting ? 200 : 503).end())
    const webhook = { url: `http://127.0.0.1:${backend.port}/hooks` }
    const apps = [{ id: 'app_hooks', keys: [{ id: 'key_hooks', key: KEY }], webhook }]
    const clock = createRunningClock()
    const env = { WEBHOOK_BACKOFF: '30000,60000', ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', CHANNEL_BACKOFF: '200' }
    const bootstrap = { companies: [{ id: 'cmp_hooks', apps }] }
    const first = await start({ clock, env, bootstrap })
    const otps = await Promise.all(
      ['+14155590001', '+14155590002', '+14155590003'].map(
        async to => (await createCaller(first.url, KEY).send(to)).body.otp_id as string,
      ),
    )
    await eventually(() => expect(backend.received).to.have.length(3))
    const token = (of: typeof first) => of.secrets.adminTokens[0]?.token ?? ''
    const statuses = async (of: typeof first) => {
      const { body } = await ask(`${of.url}/admin/v1/apps/app_hooks/events`, { token: token(of) })
      return body.items.map(({ status, attempts }: { status: string; attempts: unknown[] }) => [
        status,
        attempts.length,
      ])
    }
    await eventually(async () => expect(await statuses(first)).to.deep.equal(otps.map(() => ['pending', 1])))
    await first.stop()
    if (engines === 'real') {
      const { backoff } = readConfig({ ...first.site.env, ...env }, [])
      await removeQueues({ topology: createTopology(brokerDelays(backoff)), prefix: first.site.prefix })
    }
    accepting = true
    const second = await start({ clock, env, bootstrap, site: first.site })
    await clock.advance(60_000)
    await eventually(async () => expect(await statuses(second)).to.deep.equal(otps.map(() => ['delivered', 2])))
    const notified = backend.received.slice(3).map(({ body }) => JSON.parse(body.toString()).payload.otp_id)
    expect(notified).to.have.members(otps)
  })
})
