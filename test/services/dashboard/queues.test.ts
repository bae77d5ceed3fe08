// The queues and their dead letters over HTTP, on the embedded broker. test/flow/queues.test.ts does the same on both engine sets.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { type Broker, type DeadLetter, type DeadLetters, dead } from '../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../infra/broker/embedded.ts'
import { createTopology, QUEUES } from '../../../infra/broker/topology.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { type AdminOptions, closeAdmins, errorPaths, startAdmin, type TestAdmin } from '../../support/admin-api.ts'
import { testClock } from '../../support/clock.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

onEmbeddedStore('the queues in the admin API', fresh => {
  let broker: Broker
  let admin: TestAdmin
  const clock = testClock()
  const start = async (options: AdminOptions = {}) => startAdmin(await fresh(), { clock, ...options })

  beforeEach(async () => {
    broker = createEmbeddedBroker({ topology: createTopology({ channel: [50], webhook: [50] }), clock })
    admin = await start({ broker })
  })
  afterEach(async () => {
    await closeAdmins()
    await broker.close(0)
  })

  /** Messages that become dead letters, one after the other. */
  async function bury(...ids: string[]): Promise<void> {
    const handle = async (waiting: unknown[]) => waiting.map(() => dead('no use'))
    const consumer = await broker.consume('channel.sms', handle, { prefetch: 1 })
    for (const id of ids) await broker.publish('channel.sms', { id, body: { otp_id: `otp_${id}` } })
    await consumer.stop()
  }

  const list = (query = '') => admin.get(`/queues/channel.sms/dead${query}`)
  const listed = async (): Promise<string[]> => (await list()).body.items.map(({ id }: { id: string }) => id)
  const repair = (verb: 'requeue' | 'drop', body: unknown, queue = 'channel.sms') =>
    admin.ask('POST', `/queues/${queue}/dead/${verb}`, body)

  it('are a plain list with what waits, since when, the consumers and the dead letters', async () => {
    await bury('a', 'b')
    broker.publish('otp.reports', { id: 'r', body: {} }).catch(() => {})
    await clock.advance(1_500)
    const { status, body } = await admin.get('/queues')
    expect(status).to.equal(200)
    expect(body.map(({ queue }: { queue: string }) => queue)).to.deep.equal(QUEUES)
    const row = (name: string) => body.find(({ queue }: { queue: string }) => queue === name)
    const untold = { owed: null, owed_oldest_seconds: null }
    const empty = { broker_name: null, ready: 0, oldest_ms: null, consumers: 0, ...untold, dead: 0 }
    expect(row('otp.calls')).to.deep.equal({ ...empty, queue: 'otp.calls' })
    expect(row('channel.sms')).to.deep.equal({
      ...empty,
      queue: 'channel.sms',
      owed: 0,
      owed_oldest_seconds: 0,
      dead: 2,
    })
    expect(row('otp.reports')).to.deep.equal({ ...empty, queue: 'otp.reports', ready: 1, oldest_ms: 1_500 })
  })

  it('list dead letters oldest first, in pages', async () => {
    await bury('a', 'b', 'c')
    const { body: first } = await list('?limit=2')
    expect(first.items).to.deep.equal([
      {
        id: 'a',
        at: new Date(clock.now()).toISOString(),
        reason: 'no use',
        attempts: 1,
        body: { otp_id: 'otp_a' },
      },
      { ...first.items[0], id: 'b', body: { otp_id: 'otp_b' } },
    ])
    await repair('drop', { ids: ['b'] })
    const { body: second } = await list(`?limit=2&cursor=${first.next_cursor}`)
    expect(second).to.deep.include({ next_cursor: null })
    expect(second.items).to.have.length(1)
    expect(errorPaths(await list('?cursor=x'))).to.deep.equal(['cursor'])
  })

  it('show one dead letter', async () => {
    await bury('a', 'x/y?z')
    expect((await admin.get('/queues/channel.sms/dead/a')).body).to.deep.equal((await list()).body.items[0])
    expect((await admin.get(`/queues/channel.sms/dead/${encodeURIComponent('x/y?z')}`)).body.id).to.equal('x/y?z')
    expect((await admin.get('/queues/channel.sms/dead/none')).status).to.equal(404)
  })

  it('requeue and drop by id or all, do not count unknown ids, and record each repair', async () => {
    await bury('a', 'b', 'c', 'd')
    expect(await repair('requeue', { ids: ['a', 'unknown', 'a'] })).to.deep.include({
      status: 200,
      body: { requeued: 1 },
    })
    expect(await repair('drop', { ids: ['b', 'unknown'] })).to.deep.include({ status: 200, body: { dropped: 1 } })
    expect(await listed()).to.deep.equal(['c', 'd'])
    expect((await repair('requeue', { all: true })).body).to.deep.equal({ requeued: 2 })
    expect((await broker.depth('channel.sms')).ready).to.equal(3)
    await bury('e')
    await clock.advance(1)
    const { dropped } = (await repair('drop', { all: true })).body
    expect(dropped).to.be.at.least(1)
    expect(await listed()).to.deep.equal([])
    const { items } = (await admin.get('/audit')).body
    const common = { who: 'ada', target: 'channel.sms', company_id: null, before: null, outcome: 'done' }
    expect(items[0]).to.deep.include({ ...common, action: 'dead_letters.drop', after: { all: true, dropped } })
    const requeue = { action: 'dead_letters.requeue', after: { ids: ['a', 'unknown', 'a'], requeued: 1 } }
    expect(items.find((one: typeof requeue) => one.after.ids?.[0] === 'a')).to.deep.include({ ...common, ...requeue })
  })

  it('leave a record that stays begun when the broker fails in the middle', async () => {
    const failing: Partial<DeadLetters> = { requeue: () => Promise.reject(new Unavailable('cut')) }
    admin = await start({ broker: { dead: queue => ({ ...broker.dead(queue), ...failing }) } })
    expect((await repair('requeue', { ids: ['a'] })).status).to.equal(503)
    expect((await admin.get('/audit')).body.items[0]).to.deep.include({ outcome: 'begun', after: { ids: ['a'] } })
  })

  it('that carry calls have no dead letters', async () => {
    expect((await admin.get('/queues/otp.calls/dead')).body).to.deep.equal({ items: [], next_cursor: null })
    expect((await admin.get('/queues/otp.calls/dead/a')).status).to.equal(404)
    expect((await repair('drop', { all: true }, 'otp.calls')).body).to.deep.equal({ dropped: 0 })
  })

  it('show no recipient and no code, unreadable content in part, and large bodies in part', async () => {
    const letter = (id: string, more: Partial<DeadLetter>): DeadLetter => ({
      id,
      body: null,
      reason: 'told +14155552671 no',
      attempt: 1,
      diedAt: 0,
      position: id,
      ...more,
    })
    const letters = [
      letter('foreign', {
        body: { recipient: '+14155552671', code: '123456', sealed_from: 'k1.abc', note: 'to +14155552671' },
      }),
      letter('text', { content: Buffer.from(`{"half": "ann@example.com", ${'x '.repeat(2_000)}`) }),
      letter('binary', { content: Buffer.from([0xff, 0x00, 0x80]) }),
      letter('large', { body: { all: Array.from({ length: 90 }, (_, n) => `${n}:${'y'.repeat(500)}`) } }),
    ]
    const stub: Partial<DeadLetters> = {
      list: async () => letters,
      get: async id => letters.find(one => one.id === id) ?? null,
    }
    admin = await start({ broker: { dead: queue => ({ ...broker.dead(queue), ...stub }) } })
    const { items } = (await list()).body
    expect(items[0]).to.deep.equal({
      id: 'foreign',
      at: null,
      reason: 'told [phone] no',
      attempts: 1,
      body: { recipient: '[hidden]', code: '[hidden]', sealed_from: 'k1.abc', note: 'to [phone]' },
    })
    expect(items[1].body.unreadable.bytes).to.be.greaterThan(4_000)
    expect(items[1].body.unreadable.text).to.have.length.below(1_025)
    expect(items[1].body.unreadable.text).to.include('"half": "[email]"')
    expect(items[2].body).to.deep.equal({ unreadable: { bytes: 3, base64: '/wCA' } })
    expect(items[3].body.too_large).to.have.keys('bytes', 'text')
    expect((await admin.get('/queues/channel.sms/dead/large')).body.body.all).to.have.length(90)
  })

  it('answer 503 while the broker cannot say', async () => {
    admin = await start({ broker: { depth: () => Promise.reject(new Unavailable('down')) } })
    expect((await admin.get('/queues')).status).to.equal(503)
    admin = await start({ broker: { depth: () => new Promise(() => {}) } })
    const asked = admin.get('/queues')
    let answered = false
    void asked.then(() => {
      answered = true
    })
    while (!answered) await clock.advance(1_000)
    expect((await asked).status).to.equal(503)
  })
})
