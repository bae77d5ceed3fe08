// A message that dies, from its death to its repair, as an operator sees it: metrics, log, GET /queues, list, requeue, drop, audit.
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import { type DeliveredMessage, done } from '../../infra/broker/broker.ts'
import { systemClock } from '../../infra/clock.ts'
import { createDashboardService } from '../../services/dashboard/service.ts'
import { type BreakerState, breakerId } from '../../services/domain/breakers/documents.ts'
import { createEdgeService } from '../../services/edge/service.ts'
import type { Runtime } from '../../services/main.ts'
import { createOtpService } from '../../services/otp/service.ts'
import { createSweeperService } from '../../services/sweeper/service.ts'
import { ask, createCaller } from '../support/api-caller.ts'
import { type Countersign, describeCountersign, describeCountersignOnce } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { freshNumber } from '../support/flow.ts'
import { describeFlow } from '../support/shared-flow.ts'

const QUEUE = 'webhook.deliver'

interface QueueRow {
  queue: string
  broker_name: string | null
  ready: number
  oldest_ms: number | null
  consumers: number
  owed: number | null
  owed_oldest_seconds: number | null
  dead: number
}

const operator = ({ url, secrets }: Countersign) => {
  const token = secrets.adminTokens[0]?.token ?? ''
  const call = (method: string, path: string, body?: unknown) =>
    ask(`${url}/admin/v1${path}`, { method, token, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  return {
    call,
    async metrics() {
      const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
      return (await response.text()).split('\n')
    },
    row: async (): Promise<QueueRow> =>
      (await call('GET', '/queues')).body.find(({ queue }: QueueRow) => queue === QUEUE),
    dead: async () => (await call('GET', `/queues/${QUEUE}/dead`)).body.items,
  }
}

describeCountersign('a message that dies', (start, engines) => {
  /** A webhook actor with a bug, until it is mended. */
  function createBuggyWebhook() {
    const handled: string[] = []
    const actor = { broken: true, handled }
    const handle = async (waiting: DeliveredMessage[]) => {
      if (actor.broken) throw new Error('boom for +14155552671')
      handled.push(...waiting.map(({ id }) => id))
      return waiting.map(done)
    }
    const service = ({ broker }: Runtime) => ({
      attach: async () => [await broker.consume(QUEUE, handle, { prefetch: 10 })],
    })
    return { actor, service }
  }

  it('is seen in metrics, log and lists, is requeued once the bug is mended, and then handled', async () => {
    const { actor, service } = createBuggyWebhook()
    const countersign = await start({
      services: { webhook: service, sweeper: createSweeperService, dashboard: createDashboardService },
      env: { WEBHOOK_BACKOFF: '100' },
    })
    const { broker } = countersign.engines
    const { call, metrics, row, dead } = operator(countersign)
    const brokerName = engines === 'real' ? queueNames(countersign.site.prefix).queue(QUEUE) : null
    const idle = { ready: 0, oldest_ms: null, consumers: 1, owed: 0, owed_oldest_seconds: 0, dead: 0 }
    expect(await row()).to.deep.equal({ queue: QUEUE, broker_name: brokerName, ...idle })

    for (const id of ['evt_1', 'evt_2', 'evt_3']) await broker.publish(QUEUE, { id, body: { event_id: id } })
    await eventually(async () => expect(await row()).to.include({ dead: 3, ready: 0 }))
    // A sweeper shows the queues once it has its leases.
    await eventually(async () =>
      expect(await metrics()).to.include.members([
        `countersign_queue_dead_letters{queue="${QUEUE}"} 3`,
        `countersign_messages_died_total{queue="${QUEUE}",cause="threw"} 3`,
      ]),
    )
    const lines = countersign.log.lines().filter(({ msg }) => msg === 'message.dead')
    expect(lines.map(({ id }) => id)).to.have.members(['evt_1', 'evt_2', 'evt_3'])
    expect(lines[0]).to.deep.include({ queue: QUEUE, attempts: 2, reason: 'Error: boom for [phone]', cause: 'threw' })
    const letters = await dead()
    expect(letters).to.have.length(3)
    const letter = { id: 'evt_1', attempts: 2, reason: 'Error: boom for [phone]', body: { event_id: 'evt_1' } }
    expect(letters[0]).to.deep.include(letter)
    expect((await call('GET', `/queues/${QUEUE}/dead/evt_1`)).body).to.deep.equal(letters[0])

    actor.broken = false
    expect((await call('POST', `/queues/${QUEUE}/dead/drop`, { ids: ['evt_3'] })).body).to.deep.equal({ dropped: 1 })
    expect((await call('POST', `/queues/${QUEUE}/dead/requeue`, { ids: ['evt_1', 'evt_9'] })).body).to.deep.equal({
      requeued: 1,
    })
    await eventually(() => expect(actor.handled).to.deep.equal(['evt_1']))
    expect((await call('POST', `/queues/${QUEUE}/dead/requeue`, { all: true })).body).to.deep.equal({ requeued: 1 })
    await eventually(() => expect(actor.handled).to.deep.equal(['evt_1', 'evt_2']))
    expect(await row()).to.include({ dead: 0 })
  })
})

describeCountersignOnce('a role that does not run', start => {
  it('is told to the company whose messages wait, and its messages are counted as queued', async () => {
    const key = (id: string) => `sk_test_${id}0123456789`
    const company = (id: string) => ({
      id: `cmp_${id}`,
      name: id,
      apps: [{ id: `app_${id}`, name: id, keys: [{ id: `key_${id}`, key: key(id) }] }],
    })
    const services = {
      edge: (runtime: Runtime) => createEdgeService({ ...runtime, otherApis: [] }),
      otp: createOtpService,
      sweeper: createSweeperService,
      dashboard: createDashboardService,
    }
    const countersign = await start({ services, bootstrap: { companies: ['busy', 'idle'].map(company) } })
    const { call, metrics } = operator(countersign)
    const health = async (id: string) => (await call('GET', `/apps/app_${id}/health`)).body
    expect(await health('busy')).to.deep.equal({ causes: [] })

    const { status } = await createCaller(countersign.url, key('busy')).send(freshNumber())
    expect(status).to.equal(200)
    const none = { provider: null, reason: null, since: null }
    await eventually(async () =>
      expect(await health('busy')).to.deep.equal({ causes: [{ cause: 'channel_stopped', channel: 'sms', ...none }] }),
    )
    expect(await health('idle')).to.deep.equal({ causes: [] })
    await eventually(async () =>
      expect(await metrics(), 'for the alert CountersignQueueNotConsumed').to.include.members([
        'countersign_queue_ready{queue="channel.sms"} 1',
        'countersign_queue_consumers{queue="channel.sms"} 0',
        'countersign_queue_consumers{queue="otp.calls"} 1',
      ]),
    )

    await eventually(async () => {
      const { items } = (await call('GET', '/apps/app_busy/stats?bucket=day&by=channel')).body
      const messages = { sent: 0, queued: 1, without_receipt: 0, delivered: 0, messages_failed: 0 }
      expect(items.at(-1)).to.include({ channel: 'sms', started: 1, ...messages })
    })
  })

  it('is told together with providers and an endpoint that are not called', async () => {
    const app_id = 'app_quiet'
    const names = ['broken', 'tried', 'well', 'silent']
    const providers = names.map(name => ({ name, channel: 'sms', type: 'sandbox', config: {} }))
    const { engines, ...countersign } = await start({
      services: { dashboard: createDashboardService },
      env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' },
      bootstrap: { companies: [{ id: 'cmp_quiet', name: 'Quiet', apps: [{ id: app_id, name: 'Quiet', providers }] }] },
    })
    const { call } = operator({ engines, ...countersign })
    const expectCauses = (...causes: string[]) =>
      eventually(async () => {
        const { body } = await call('GET', `/apps/${app_id}/health`)
        const told = body.causes.map(({ cause, provider }: Record<string, string>) =>
          `${cause} ${provider ?? ''}`.trim(),
        )
        expect(told).to.have.members(causes)
      })
    // Events that wait concern only an app that has an endpoint.
    // The embedded broker resolves when the message is handled, which it never is.
    engines.broker.publish(QUEUE, { id: 'evt_1', body: { event_id: 'evt_1' } }).catch(() => {})
    await eventually(async () => expect((await engines.broker.depth(QUEUE)).ready).to.equal(1))
    await expectCauses('verifications_stopped')
    const url = 'http://127.0.0.1:9/hooks'
    expect((await call('PUT', `/apps/${app_id}/webhook`, { url })).status).to.be.within(200, 201)
    await expectCauses('verifications_stopped', 'webhooks_stopped')
    await call('PUT', `/apps/${app_id}/webhook`, { url, status: 'paused' })
    await expectCauses('verifications_stopped', 'endpoint_paused')

    const since = systemClock.now() - 60_000
    const report = (provider: string, state: BreakerState, valid_until = since + 600_000) => {
      const key = { app_id, provider, process: 'p1' }
      return { _id: breakerId(key), ...key, state, since, valid_until, purge_at: new Date(since + 600_000) }
    }
    const states = [report('broken', 'open'), report('tried', 'half_open'), report('well', 'closed')]
    await engines.store.docs('breakers').insert([...states, report('silent', 'open', since + 1)])
    const breakers = ['provider_open broken', 'provider_half_open tried']
    await expectCauses('verifications_stopped', 'endpoint_paused', ...breakers)
  })
})

describeFlow('a message that is none of ours', (flow, engines) => {
  const wrong: [queue: 'otp.reports' | 'webhook.deliver' | 'channel.sms', bodies: unknown[]][] = [
    [
      'otp.reports',
      [null, 7, {}, { type: 'otp.melt', otp_id: 'x' }, { type: 'otp.due' }, { type: 'reports', all: [null] }],
    ],
    ['webhook.deliver', [null, 'x', {}, { drain: 7 }, { event_id: 'e', app_id: 'a', payload: null, at: 1 }]],
    ['channel.sms', [null, [], {}, { otp_id: 7, delivery_id: 'd' }, { otp_id: 'o' }]],
  ]
  for (const [queue, bodies] of wrong)
    it(`becomes a dead letter of ${queue}, alone`, async () => {
      const { broker } = flow.countersign.engines
      const name = (index: number) => `wrong-${engines}-${queue}-${index}`
      const [{ server }] = [await flow.createTenant()]
      // Together, so that they share a batch with each other and with the messages of a verification.
      const published = bodies.map((body, index) => broker.publish(queue, { id: name(index), body }))
      const started = await flow.startVerification(server)
      await flow.advanceUntil(Promise.all(published))
      const names = bodies.map((_, index) => name(index))
      const letters = await flow.eventually(async () => {
        const { items } = (await flow.admin('GET', `/queues/${queue}/dead?limit=100`)).body
        const mine = items.filter(({ id }: { id: string }) => names.includes(id))
        expect(mine.map(({ id }: { id: string }) => id)).to.have.members(names)
        return mine
      })
      for (const { reason } of letters) expect(reason).to.match(/^unreadable: not a/)
      expect((await server.verify(started.otp_id, started.code)).body.status).to.equal('approved')
      const { body } = await flow.admin('POST', `/queues/${queue}/dead/drop`, { ids: names })
      expect(body).to.deep.equal({ dropped: names.length })
    })
})
