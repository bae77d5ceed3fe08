// Incidents become notices, and notices are told: once, by one of all processes, even if that one dies on the way.
import { expect } from 'chai'
import type { Message } from '../../../infra/broker/broker.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../infra/time.ts'
import { stepEndpoint } from '../../../machines/endpoint.step.ts'
import type { EndpointEvent } from '../../../machines/endpoint.ts'
import type { RouteFact } from '../../../machines/routes.ts'
import { breakerId } from '../../../services/domain/breakers/documents.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { openAccount } from '../../../services/domain/money/batches.ts'
import type { NoticeDoc } from '../../../services/domain/notices/documents.ts'
import { CONSOLE_APP_ID } from '../../../services/domain/tenancy/console.ts'
import type { ConsoleMail, ConsoleMailAnswer } from '../../../services/domain/tenancy/console-mail.ts'
import { type PendingRetention, providerContext, providerId } from '../../../services/domain/tenancy/documents.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import type { NotifyBody } from '../../../services/domain/webhooks/queue-messages.ts'
import { createIncidentSweeps } from '../../../services/sweeper/incidents.ts'
import { createTellNotices } from '../../../services/sweeper/tell-notices.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { routeFact } from '../../support/route-facts.ts'
import { eachStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import { addUser } from '../../support/users.ts'

const THRESHOLD = 100
const LOOK_EVERY_MS = 10_000
const QUIET_MS = 10 * MINUTE_MS
/** A process that tells of a notice is taken for dead after this time without a write. */
const TAKEN_MS = 2 * MINUTE_MS

eachStore('notices', fresh => {
  const keyring = testKeyring()
  const metrics = createMetrics()
  let [store, clock] = [] as unknown as [CountersignStore, TestClock]
  let mails: ConsoleMail[]
  let events: NotifyBody[]
  let answers: ConsoleMailAnswer['kind'][]
  beforeEach(async () => {
    ;[store, clock] = [await fresh(), testClock()]
    ;[mails, events, answers] = [[], [], []]
    const _id = providerId(CONSOLE_APP_ID, 'mail')
    const config = keyring.seal(
      JSON.stringify({ host: 'mail.example', port: 587, from: 'a@b.example' }),
      providerContext(_id),
    )
    const place = { _id, app_id: CONSOLE_APP_ID, name: 'mail', position: 0, rev: 0 }
    await store.docs('providers').insert([{ ...place, channel: 'email', type: 'smtp', config }])
    await addCompany()
  })

  /** With two apps, of which the second has an endpoint that asks for notices, and an owner. */
  async function addCompany(): Promise<void> {
    const account = openAccount('cmp_1', 0, clock.now())
    const watched = { low_balance_micros: THRESHOLD, low_balance_watch: 1 } as const
    await store
      .docs('companies')
      .insert([{ _id: 'cmp_1', name: 'Acme', ...account, ...watched, created_at: 0, rev: 0 }])
    const app = { company_id: 'cmp_1', name: 'Shop', settings: {}, created_at: 0, rev: 0 }
    await store.docs('apps').insert([
      { ...app, _id: 'app_1' },
      { ...app, _id: 'app_2' },
    ])
    const asked = ['ops.balance_low', 'ops.endpoint_paused', 'ops.provider_open'] as const
    const endpoint = { url: 'https://shop.example', status: 'active' as const, secrets: [], rev: 0 }
    await store.docs('webhooks').insert([
      { ...endpoint, _id: 'app_1' },
      { ...endpoint, _id: 'app_2', events: [...asked] },
    ])
    await addUser(store, 'cmp_1', 'owner')
    await setBalance(THRESHOLD)
  }
  const setBalance = (balance: number) => store.docs('companies').modify({ _id: 'cmp_1' }, { $set: { balance } })
  const stepPaused = async (...facts: EndpointEvent[]): Promise<void> => {
    const stored = (await store.docs('webhooks').get(['app_2'])).get('app_2')
    const { status, life } = stepEndpoint(
      { status: stored?.status ?? 'active', ...(stored?.life ? { life: stored.life } : {}) },
      facts,
    )
    await store.docs('webhooks').modify({ _id: 'app_2' }, { $set: { status, life } })
  }
  const gone = (): EndpointEvent => ({ type: 'attempt.failed', at: clock.now(), gone: true, exhausted: false })
  const setBreaker = async (process: string, state: 'open' | 'closed'): Promise<void> => {
    const key = { app_id: 'app_1', provider: 'twilio', process }
    const times = { since: clock.now(), valid_until: clock.now() + DAY_MS, purge_at: new Date(clock.now() + DAY_MS) }
    await store
      .docs('breakers')
      .modify({ _id: breakerId(key) }, { $set: { ...key, state, ...times } }, { upsert: true })
  }

  interface Ports {
    store: CountersignStore
    publish(queue: string, message: Message): Promise<void>
    sendMail(mail: ConsoleMail): Promise<ConsoleMailAnswer['kind']>
  }
  const ports = (): Ports => ({
    store,
    publish: async (_, { body }) => void events.push(body as NotifyBody),
    sendMail: async mail => {
      mails.push(mail)
      return answers.shift() ?? 'sent'
    },
  })
  /** A sweeper's process. */
  function start({ store, publish, sendMail }: Ports = ports()) {
    const { log } = createCapturedLog()
    const tenancy = createTenancy({ store, keyring, clock })
    const incidents = createIncidentSweeps({ store, tenancy, clock, log, metrics })
    const deps = { store, broker: { publish }, sendMail, keyring, clock, log, publicUrl: 'https://otp.example' }
    const tell = createTellNotices(deps)
    return async (): Promise<void> => {
      for (const sweepIncidents of Object.values(incidents)) await sweepIncidents([0])
      await tell.sweeps.notices?.([0])
    }
  }
  const allNotices = (): Promise<NoticeDoc[]> =>
    store.docs('notices').find({ company_id: 'cmp_1' }, { sort: { _id: -1 }, limit: 100 })
  /** Whether a process tells of it, or should. */
  const isDue = ({ due_at = Number.POSITIVE_INFINITY }: NoticeDoc) =>
    due_at <= clock.now() || due_at === clock.now() + TAKEN_MS
  /** Looks and tells, until nothing is under way. */
  async function sweep(run = start()): Promise<void> {
    await run()
    await eventually(async () => expect((await allNotices()).filter(isDue)).to.deep.equal([]))
  }
  /** How many mails there are in all, once the process has looked so much later. */
  const mailsAfter = (run: () => Promise<void>) => async (ms: number) => {
    await clock.advance(ms)
    await sweep(run)
    return mails.length
  }
  const told = () => ({ events: events.map(({ type, app_id }) => `${type} ${app_id}`), mails: mails.length })

  it('of a low balance come once, and again only after there was clearly enough', async () => {
    const mailsIn = mailsAfter(start())
    const after = async (balance: number) => {
      await setBalance(balance)
      return mailsIn(LOOK_EVERY_MS)
    }
    expect(await after(THRESHOLD), 'at the threshold').to.equal(0)
    expect(await after(THRESHOLD - 1)).to.equal(1)
    expect(await after(THRESHOLD + 19), 'a refund').to.equal(1)
    expect(await after(THRESHOLD - 2)).to.equal(1)
    expect(await after(THRESHOLD * 1.2), 'a credit').to.equal(1)
    expect(await after(THRESHOLD - 1)).to.equal(2)
    expect(told()).to.deep.equal({ events: Array(2).fill('ops.balance_low app_2'), mails: 2 })
    expect(events[0]?.payload).to.have.all.keys('company_id', 'subject', 'at')
    expect(events[0]?.payload).to.include({ company_id: 'cmp_1', subject: 'cmp_1' })
    expect(mails[0]).to.include({ subject: 'The balance of Acme is low' })
    expect(mails[0]?.text).to.include('below 0.0001').and.to.include('https://otp.example/c/cmp_1/money')
    expect((await allNotices()).map(({ open_since }) => open_since !== undefined)).to.deep.equal([true, false])
  })

  it('of a paused endpoint come once, not where a person paused it, and not for one that was enabled for minutes', async () => {
    const mailsIn = mailsAfter(start())
    const after = async (ms: number, ...facts: EndpointEvent[]) => {
      await stepPaused(...facts)
      return mailsIn(ms)
    }
    expect(await after(LOOK_EVERY_MS, { type: 'endpoint.pause', at: clock.now() })).to.equal(0)
    expect(await after(LOOK_EVERY_MS, { type: 'endpoint.enable', at: clock.now() }, gone())).to.equal(1)
    expect(await after(QUIET_MS)).to.equal(1)
    for (const days of [1, 30]) expect(await after(days * DAY_MS), 'it goes on').to.equal(1)
    expect((await allNotices()).map(({ open_since }) => open_since !== undefined)).to.deep.equal([true])
    expect(await after(LOOK_EVERY_MS, { type: 'endpoint.enable', at: clock.now() })).to.equal(1)
    expect(await after(LOOK_EVERY_MS, gone())).to.equal(1)
    expect(await after(QUIET_MS, { type: 'endpoint.enable', at: clock.now() })).to.equal(1)
    expect(await after(LOOK_EVERY_MS, gone())).to.equal(2)
    expect(told().events).to.deep.equal(Array(2).fill('ops.endpoint_paused app_2'))
    expect(events[0]?.payload).to.include({ app_id: 'app_2', subject: 'whk_2' })
  })

  it('of an open breaker come once for all processes, until none has had one for ten minutes', async () => {
    await store.docs('webhooks').modify({ _id: 'app_1' }, { $set: { events: ['ops.provider_open'] } })
    const after = mailsAfter(start())
    await Promise.all(['one', 'two'].map(process => setBreaker(process, 'open')))
    expect(await after(LOOK_EVERY_MS)).to.equal(1)
    await setBreaker('one', 'closed')
    expect(await after(QUIET_MS)).to.equal(1)
    await setBreaker('two', 'closed')
    expect(await after(QUIET_MS - LOOK_EVERY_MS)).to.equal(1)
    await setBreaker('one', 'open')
    expect(await after(LOOK_EVERY_MS), 'too soon').to.equal(1)
    await setBreaker('one', 'closed')
    await after(2 * QUIET_MS)
    await setBreaker('one', 'open')
    expect(await after(LOOK_EVERY_MS)).to.equal(2)
    expect(told().events).to.deep.equal(Array(2).fill('ops.provider_open app_1'))
    expect(events[0]?.payload).to.include({ app_id: 'app_1', subject: 'twilio' })
    expect(mails[0]?.subject).to.equal('The provider twilio of Shop is failing')
  })

  it('of a silent provider come once for all its countries, and not for one that is gone or paused', async () => {
    await store.docs('webhooks').modify({ _id: 'app_1' }, { $set: { events: ['ops.provider_silent'] } })
    const after = mailsAfter(start())
    const silent = (provider: string, country: string) => routeFact({ provider, country, silentSince: clock.now() })
    const setFacts = (...facts: RouteFact[]) => {
      const count =
        facts.length > 0
          ? { $set: { facts, silent: facts.length } }
          : { $set: { facts }, $unset: { silent: true as const } }
      return store.docs('route_facts').modify({ _id: 'app_1' }, count, { upsert: true })
    }
    const _id = providerId('app_1', 'main')
    const config = keyring.seal(JSON.stringify({}), providerContext(_id))
    const provider = { _id, app_id: 'app_1', name: 'main', position: 0, rev: 0, channel: 'sms' as const, config }
    await store.docs('providers').insert([{ ...provider, type: 'sandbox' }])
    await setFacts(silent('gone', 'FR'), silent('main', 'GB'), silent('main', 'BR'))
    expect(await after(LOOK_EVERY_MS)).to.equal(1)
    expect(mails[0]?.subject).to.equal('Codes sent by main of Shop are not entered')
    expect(mails[0]?.text).to.include('in BR, GB.').and.to.include('https://otp.example/a/app_1/routing')
    expect(events[0]?.payload).to.include({ subject: 'main', app_id: 'app_1' })
    expect((await metrics.render()).body).to.include('countersign_provider_silent{channel="sms"} 2')
    await setFacts(silent('main', 'BR'), silent('main', 'DE'))
    expect(await after(LOOK_EVERY_MS), 'one more country').to.equal(1)
    await setFacts()
    expect(await after(2 * QUIET_MS)).to.equal(1)
    expect((await metrics.render()).body).to.include('countersign_provider_silent{channel="sms"} 0')
    await store.docs('providers').modify({ _id }, { $set: { paused: true } })
    await setFacts(silent('main', 'GB'))
    expect(await after(LOOK_EVERY_MS), 'of one that is paused').to.equal(1)
    await store.docs('providers').modify({ _id }, { $set: { paused: false } })
    expect(await after(LOOK_EVERY_MS)).to.equal(2)
    expect(told().events).to.deep.equal(Array(2).fill('ops.provider_silent app_1'))
  })

  it('of a shorter retention come once each time it is asked for, and late where no sweeper ran', async () => {
    await store.docs('webhooks').modify({ _id: 'app_1' }, { $set: { events: ['ops.retention_shortened'] } })
    const mailsIn = mailsAfter(start())
    const after = async (ms: number, pending_retention?: PendingRetention | null) => {
      if (pending_retention !== undefined)
        await store.docs('apps').modify({ _id: 'app_1' }, { $set: { pending_retention } })
      return mailsIn(ms)
    }
    const inADay = (retention_days: number) => ({ retention_days, effective_at: clock.now() + DAY_MS })
    const effective_at = clock.now() + DAY_MS
    expect(await after(LOOK_EVERY_MS, inADay(7))).to.equal(1)
    expect(mails[0]?.subject).to.equal('Shop will keep its verifications for a shorter time')
    expect(mails[0]?.text)
      .to.include('for 7 days, in place of 30 days')
      .and.to.include(`from ${new Date(effective_at).toISOString()} on`)
      .and.to.include('https://otp.example/c/cmp_1/privacy')
    expect(events[0]?.payload).to.include({ app_id: 'app_1', subject: 'app_1' })
    expect(await after(LOOK_EVERY_MS, null), 'undone').to.equal(1)
    expect(await after(LOOK_EVERY_MS, inADay(7)), 'asked for again').to.equal(2)
    expect(await after(3 * DAY_MS), 'in force').to.equal(2)
    expect(await after(LOOK_EVERY_MS, { retention_days: 1, effective_at: clock.now() - HOUR_MS })).to.equal(3)
    expect(mails[2]?.text).to.include('for 1 day, in place of')
    expect(told().events).to.deep.equal(Array(3).fill('ops.retention_shortened app_1'))
  })

  it('come once from processes that look and tell at the same time, and not for a closed company', async () => {
    const setClosed = (closed_at: number | null) =>
      store.docs('companies').modify({ _id: 'cmp_1' }, { $set: { closed_at } })
    await setBalance(0)
    await setClosed(1)
    await sweep()
    expect(await allNotices()).to.have.length(0)
    await setClosed(null)
    await clock.advance(LOOK_EVERY_MS)
    const runs = Array.from({ length: 5 }, () => start())
    await Promise.all(runs.map(run => run()))
    await sweep()
    expect(told()).to.deep.equal({ events: ['ops.balance_low app_2'], mails: 1 })
    expect(await allNotices()).to.have.length(1)
  })

  it('are not made by a process that saw an incident before another process had told of it and found it over', async () => {
    const other = start()
    const openAndEnd = async (): Promise<void> => {
      await sweep(other)
      await setBalance(2 * THRESHOLD)
      await clock.advance(LOOK_EVERY_MS)
      await sweep(other)
    }
    let looks = 0
    const slow = overrideDocs(store, 'companies', ({ find }) => ({
      async find(...args) {
        const found = await find(...args)
        looks += 1
        if (looks === 1) await openAndEnd()
        return found
      },
    }))
    await setBalance(0)
    await sweep(start({ ...ports(), store: slow }))
    expect((await allNotices()).map(({ open_since }) => open_since)).to.deep.equal([undefined])
    expect(mails).to.have.length(1)
  })

  it('come once from a process that dies after any of its calls; a mail whose record is lost has the same id', async () => {
    const hang = new Promise<never>(() => {})
    const METHODS = ['get', 'find', 'insert', 'change', 'modify', 'update'] as const
    await addUser(store, 'cmp_1', 'owner')
    let survived = false
    for (let nth = 1; !survived; nth += 1) {
      await store.docs('notices').remove({ company_id: 'cmp_1' }, 10)
      ;[mails, events] = [[], []]
      await setBalance(0)
      let calls = 0
      let last = ''
      let die = () => {}
      const death = new Promise<void>(resolve => {
        die = resolve
      })
      /** After its nth call, the process gets no answer, and nothing that it does happens. */
      const mortal =
        <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
        async (...args: A): Promise<R> => {
          if (calls >= nth) return hang
          calls += 1
          const isLast = calls === nth
          if (isLast) last = name
          const answer = await call(...args)
          if (isLast) die()
          return isLast ? hang : answer
        }
      const { publish, sendMail } = ports()
      const docs = ((name: 'notices') => {
        const all = store.docs(name)
        const wrapped = METHODS.map(method => [method, mortal(`${name}.${method}`, all[method] as never)])
        return { ...all, ...Object.fromEntries(wrapped) }
      }) as CountersignStore['docs']
      const run = start({
        store: { ...store, docs },
        publish: mortal('publish', publish),
        sendMail: mortal('sendMail', sendMail),
      })
      const finished = run().then(() =>
        eventually(async () => expect((await allNotices()).filter(isDue)).to.have.length(0)),
      )
      survived = await Promise.race([death.then(() => false), finished.then(() => true)])
      finished.catch(() => {})
      await clock.advance(TAKEN_MS)
      await sweep()
      const where = `after call ${nth}, ${last}`
      expect(await allNotices(), where).to.have.length(1)
      expect(new Set(events.map(({ event_id }) => event_id)).size, where).to.equal(1)
      expect(new Set(mails.map(({ id }) => id)).size, where).to.equal(2)
      expect(new Set(mails.map(({ recipient }) => recipient)).size, where).to.equal(2)
      expect(mails.length, where).to.equal(last === 'sendMail' ? 3 : 2)
    }
  })

  it('are mailed again, a few times, where a mail was not taken, and not to a former owner', async () => {
    const other = await addUser(store, 'cmp_1', 'owner')
    await addUser(store, 'cmp_1', 'invited')
    await addUser(store, 'cmp_1', 'developer')
    await setBalance(0)
    answers = ['sent', 'not_sent']
    const run = start()
    await sweep(run)
    expect(mails).to.have.length(2)
    const [, unsent] = mails
    expect((await allNotices())[0]?.mails.map(({ sent_at }) => sent_at !== undefined)).to.deep.equal([true, false])
    answers = Array(100).fill('not_sent')
    const tryForADay = async (): Promise<number> => {
      for (let hours = 0; hours < 24; hours += 1) {
        await clock.advance(60 * MINUTE_MS)
        await sweep(run)
      }
      expect((await allNotices())[0]).not.to.have.property('due_at')
      return mails.length
    }
    expect(await tryForADay()).to.equal(2 + 5)
    for (const { id, recipient } of mails.slice(2))
      expect({ id, recipient }).to.deep.equal({ id: unsent?.id, recipient: unsent?.recipient })

    await setBalance(2 * THRESHOLD)
    await clock.advance(LOOK_EVERY_MS)
    await sweep(run)
    await setBalance(0)
    answers = ['sent', 'not_sent']
    await clock.advance(LOOK_EVERY_MS)
    await sweep(run)
    await store.docs('users').modify({ _id: other._id }, { $set: { role: 'viewer' } })
    expect(await tryForADay()).to.equal(2 + 5 + 2)
    expect(told().events).to.have.length(2)
  })

  it('are not mailed without an email provider', async () => {
    await setBalance(0)
    await store.docs('providers').modify({ _id: providerId(CONSOLE_APP_ID, 'mail') }, { $set: { paused: true } })
    await sweep()
    expect(told()).to.deep.equal({ events: ['ops.balance_low app_2'], mails: 0 })
  })
})
