// One event on its way to one endpoint: what is sent, when it is sent again, and what is stored about it.
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { ForbiddenTarget, Lost, NotSent } from '../../../infra/outbound/outbound.ts'
import { DAY_MS } from '../../../infra/time.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { answerText, eraseAnswersForOtps } from '../../../services/domain/privacy/event-answers.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { atRest } from '../../../services/domain/verifications/encryption-context.ts'
import type { NotifyBody } from '../../../services/domain/webhooks/queue-messages.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import {
  BACKOFF,
  createWebhookHarness,
  expectStatus,
  hangingEndpoint,
  SECONDS,
  secretOf,
  type WebhookHarness,
} from '../../support/webhooks.ts'

onEmbeddedStore('an event on its way', fresh => {
  let harness: WebhookHarness
  afterEach(() => harness.stop())

  /** The times between the attempts of an event. */
  const spacing = (id: string): number[] => {
    const times = harness.callsOf(id).map(({ at }) => at)
    return times.slice(1).map((at, before) => at - (times[before] ?? 0))
  }

  it('is one POST with exactly its envelope, signed, if it is accepted at once', async () => {
    harness = await createWebhookHarness(await fresh())
    const id = await harness.emitEvent('app_shop', { mode: 'live' })
    const event = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    const [call, ...more] = harness.callsOf(id)
    expect(more).to.deep.equal([])
    expect(call?.url).to.equal('https://app_shop.example/hooks')
    expect(call?.body).to.equal(
      JSON.stringify({ id, type: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } }),
    )
    const timestamp = String(Math.floor((call?.at ?? 0) / 1000))
    const secret = `whsec_${secretOf('app_shop')}`
    expect(call?.headers).to.deep.include({
      'content-type': 'application/json',
      'x-webhook-mode': 'live',
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': createHmac('sha256', secret).update(`${timestamp}.${call?.body}`).digest('hex'),
      'webhook-id': id,
    })
    const { attempts, next_attempt_at, due_at, attempt_started_at, ...rest } = event
    expect([next_attempt_at, due_at, attempt_started_at]).to.deep.equal([undefined, undefined, undefined])
    expect(rest).to.deep.include({ round: 1, tries: 1 })
    const members = 'app_id company_id created_at mode partition payload purge_at rev round status tries type'
    expect(rest, 'as for an app with one endpoint').to.have.all.keys('_id', ...members.split(' '))
    expect(attempts).to.deep.equal([
      { round: 1, attempt: 1, at: call?.at, ms: 0, status: 200, error: null, sealed_response: null },
    ])
  })

  it('of test mode says so in its signed id', async () => {
    harness = await createWebhookHarness(await fresh())
    const stored = await harness.emitEvent('app_shop', { mode: 'test' })
    await harness.soon(() => expectStatus(harness, stored, 'delivered'))
    const id = stored.replace('evt_', 'evt_test_')
    const [call] = harness.callsOf(id)
    expect(call?.headers).to.include({ 'webhook-id': id, 'x-webhook-mode': 'test' })
    expect(harness.log.lines().find(({ msg }) => msg === 'webhook.attempted')).to.include({ event_id: id })
  })

  it('is sent again after the waits of the schedule, never earlier, with the same bytes and a new signature', async () => {
    const share = 1.2
    harness = await createWebhookHarness(await fresh(), { random: () => 0.999_999 })
    harness.respondWith('app_shop', () => 503)
    const id = await harness.emitEvent('app_shop')
    await harness.passTime(240 * SECONDS, SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'failed'))
    for (const [at, ms] of spacing(id).entries()) {
      const waitMs = (BACKOFF[at] ?? 0) * share
      expect(ms, `wait ${at + 1}`).to.be.within(Math.floor(waitMs), waitMs + SECONDS)
    }
    const calls = harness.callsOf(id)
    expect(new Set(calls.map(({ body }) => body))).to.have.property('size', 1)
    for (const header of ['x-webhook-signature', 'x-webhook-timestamp', 'webhook-signature'])
      expect(new Set(calls.map(({ headers }) => headers[header])), header).to.have.property('size', 4)
  })

  for (const [what, thrown, error] of [
    ['an address that may not be called', new ForbiddenTarget('10.0.0.1 is private'), 'forbidden'],
    ['an endpoint that is not there', new NotSent('connection refused'), 'unreachable'],
    ['a connection that breaks', new Lost('reset'), 'lost'],
  ] as const)
    it(`counts ${what} as a failed attempt`, async () => {
      harness = await createWebhookHarness(await fresh())
      harness.respondWith('app_shop', () => Promise.reject(thrown))
      const id = await harness.emitEvent('app_shop')
      const [attempt] = await harness.soon(async () => {
        const { attempts } = await harness.event(id)
        expect(attempts).to.have.length(1)
        return attempts
      })
      expect(attempt).to.deep.include({ status: null, error, sealed_response: null })
      expect((await harness.event(id)).next_attempt_at).to.be.greaterThan(harness.clock.now())
    })

  it('keeps the latest twenty of its attempts', async () => {
    harness = await createWebhookHarness(await fresh(), { backoff: Array(22).fill(SECONDS), withSweeper: false })
    harness.respondWith('app_shop', () => 500)
    const id = await harness.emitEvent('app_shop')
    await harness.passTime(22 * SECONDS)
    const { attempts } = await harness.soon(() => expectStatus(harness, id, 'failed'))
    expect(attempts.map(({ attempt }) => attempt)).to.deep.equal(Array.from({ length: 20 }, (_, nth) => nth + 4))
  })

  it('waits 15 seconds for an answer, and reads its first 2 KB', async () => {
    harness = await createWebhookHarness(await fresh())
    const slow = hangingEndpoint()
    harness.respondWith('app_shop', slow.answers)
    const id = await harness.emitEvent('app_shop', { payload: {} })
    await harness.soon(() => expect(slow.waiting()).to.equal(1))
    harness.respondWith('app_shop', async () => ({ status: 500, headers: {}, body: Buffer.from('é '.repeat(3_000)) }))
    await harness.passTime(14 * SECONDS)
    expect(slow.waiting()).to.equal(1)
    await harness.passTime(2 * SECONDS)
    await harness.soon(async () =>
      expect((await harness.event(id)).attempts[0]).to.include({ error: 'timeout', ms: 15_000 }),
    )
    await harness.passTime(6 * SECONDS)
    await harness.soon(async () => {
      const sealed = (await harness.event(id)).attempts[1]?.sealed_response ?? null
      // Each is three bytes, and the last one is cut.
      expect(answerText(testKeyring(), id, sealed)).to.equal('é '.repeat(682).trim())
    })
  })

  it('is delivered only by a 2xx answer', async () => {
    harness = await createWebhookHarness(await fresh())
    harness.respondWith('app_shop', call => Number(JSON.parse(call.body).payload.otp_id))
    for (const [status, outcome] of [
      [200, 'delivered'],
      [299, 'delivered'],
      [301, 'pending'],
      [404, 'pending'],
      [199, 'pending'],
    ] as const) {
      const id = await harness.emitEvent('app_shop', { payload: { otp_id: String(status) } })
      await harness.soon(async () => {
        expect((await harness.event(id)).attempts).to.have.length(1)
        await expectStatus(harness, id, outcome)
      })
    }
  })

  it('has one log line per attempt, with its verification, without URL or body', async () => {
    harness = await createWebhookHarness(await fresh())
    const id = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    const lines = harness.log.lines().filter(({ msg }) => msg === 'webhook.attempted')
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include({ event_id: id, app_id: 'app_shop', attempt: 1, outcome: 'delivered', status: 200 })
    expect(lines[0]).to.include({ otp_id: 'otp_1' })
    expect(harness.log.output()).not.to.include('app_shop.example').and.not.to.include('payload')
    expect((await harness.metrics.render()).body).to.include(
      'countersign_webhook_attempts_total{outcome="delivered"} 1',
    )
  })
})

// New events: which are stored, for how long, and that one that cannot be stored does not affect the others.
onEmbeddedStore('the webhook role', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness

  beforeEach(async () => {
    store = await fresh()
  })
  afterEach(() => harness.stop())

  it('stores a live event for 30 days and a test event for 3, and makes no call where there is no endpoint', async () => {
    harness = await createWebhookHarness(store)
    const live = await harness.event(await harness.emitEvent('app_bare', { mode: 'live' }))
    expect(live.purge_at.getTime() - live.created_at).to.equal(30 * DAY_MS)
    const id = await harness.emitEvent('app_bare', { mode: 'test' })
    expect(await harness.event(id)).to.deep.include({
      _id: id,
      app_id: 'app_bare',
      company_id: 'cmp_acme',
      mode: 'test',
      type: 'otp.approved',
      payload: { otp_id: 'otp_1', status: 'approved' },
      status: 'unsent',
      created_at: harness.clock.now(),
      purge_at: new Date(harness.clock.now() + 3 * DAY_MS),
    })
    expect(harness.calls).to.deep.equal([])
  })

  it('stores events for the app’s retention, and those to be sent at least until they can be', async () => {
    harness = await createWebhookHarness(store, { retention_days: 2 })
    const [bare, shop] = [await harness.emitEvent('app_bare'), await harness.emitEvent('app_shop')]
    expect((await harness.event(bare)).purge_at.getTime()).to.be.within(
      harness.clock.now() + 2 * DAY_MS - 5,
      harness.clock.now() + 2 * DAY_MS,
    )
    expect((await harness.event(shop)).purge_at.getTime()).to.be.greaterThan(harness.clock.now() + 7 * DAY_MS)
  })

  /** Publishes all events before any is handled, so that they are one batch. */
  function publishTogether(apps: readonly string[]): string[] {
    const at = harness.clock.now()
    return apps.map((app_id, n) => {
      const event_id = `evt_together${n}`
      const body = {
        event_id,
        app_id,
        company_id: 'cmp_acme',
        mode: 'live',
        type: 'otp.approved',
        payload: { otp_id: 'otp_1', status: 'approved' },
        at,
      }
      void harness.publish({ id: event_id, body })
      return event_id
    })
  }

  it('stores all events of a batch but the one whose app cannot be read now, and that one later', async () => {
    harness = await createWebhookHarness(store)
    await harness.emitEvent('app_shop')
    await harness.settle()
    harness.beforeStoreCall('apps.get', async () => {
      throw new Unavailable('away')
    })
    const ids = publishTogether([...Array<string>(16).fill('app_shop'), 'app_blog'])
    await harness.settle()
    for (const id of ids.slice(0, 16)) await expectStatus(harness, id, 'delivered')
    expect(await store.docs('events').count({ app_id: 'app_blog' })).to.equal(0)
    expect(harness.log.lines().find(({ msg }) => msg === 'events.postponed')).to.include({ messages: 1 })
    await harness.passTime(5 * SECONDS)
    await expectStatus(harness, ids[16] ?? '', 'delivered')
  })

  it('frees all slots of an endpoint when a batch could not be stored', async () => {
    harness = await createWebhookHarness(store)
    await harness.emitEvent('app_shop')
    await harness.settle()
    for (const method of ['events.insert', 'apps.get'])
      harness.beforeStoreCall(method, async () => {
        throw new Unavailable('away')
      })
    const ids = publishTogether([...Array<string>(16).fill('app_shop'), 'app_blog'])
    await harness.passTime(5 * SECONDS)
    for (const id of ids) await expectStatus(harness, id, 'delivered')
    const later = await harness.emitEvent('app_shop')
    await harness.settle()
    expect(await expectStatus(harness, later, 'delivered')).not.to.have.property('backlog')
  })

  it('stores events of an app whose settings it cannot read for the default time, and those of the other apps', async () => {
    harness = await createWebhookHarness(store)
    const settings = { routing: { default: ['a channel of a newer release'] } }
    await store.docs('apps').modify({ _id: 'app_blog' }, { $set: { settings } as never })
    const ids = publishTogether(['app_shop', 'app_blog', 'app_shop'])
    await harness.settle()
    for (const id of ids) await expectStatus(harness, id, 'delivered')
    const live = await harness.emitEvent('app_blog', { mode: 'live' })
    const { created_at, purge_at } = await harness.event(live)
    expect(purge_at.getTime() - created_at).to.equal(30 * DAY_MS)
    expect(harness.log.lines().filter(({ msg }) => msg === 'app.unreadable')).to.have.length(1)
  })
})

// What is stored of an endpoint's answer. An endpoint may echo what it was sent, or what it knows of the person.
const keyring = testKeyring()
const OTP = 'otp_1'

onEmbeddedStore("an endpoint's answer", fresh => {
  let harness: WebhookHarness
  beforeEach(async () => {
    harness = await createWebhookHarness(await fresh())
  })
  afterEach(() => harness.stop())

  const addOtp = (recipient: string, code?: string) => {
    const context = {
      recipient: { sealed: keyring.seal(recipient, atRest.recipient(OTP)) },
      code: code === undefined ? { salt: '' } : { given: keyring.seal(code, atRest.givenCode(OTP)) },
    }
    return harness.store.docs('otps').insert([{ _id: OTP, rev: 1, outbox: [], context } as unknown as OtpDoc])
  }

  /** What the admin API would show of the answer, and the stored document as text. */
  async function keptOf(body: string, fact: Partial<NotifyBody> = {}): Promise<[shown: string | null, stored: string]> {
    harness.respondWith('app_shop', async () => ({ status: 200, headers: {}, body: Buffer.from(body) }))
    const id = await harness.emitEvent('app_shop', fact)
    return harness.soon(async () => {
      const event = await harness.event(id)
      const [attempt] = event.attempts
      if (!attempt) throw new Error('not yet')
      return [answerText(keyring, event._id, attempt.sealed_response), JSON.stringify(event)]
    })
  }

  it('is kept sealed, without the number, the code, addresses and secrets', async () => {
    await addOtp('+442079460156', 'k7Qx9b')
    const secret = secretOf('app_shop')
    const body = `thanks: 020 7946 0156, k7qX9B, ada@example.com, 123456, whsec_${secret}, bye`
    const [shown, stored] = await keptOf(body)
    expect(shown).to.equal(null)
    const [again] = await keptOf(body.replace('k7qX9B', 'it'))
    expect(again).to.equal('thanks: [number], it, [email], [number], [hidden], bye')
    expect(stored).to.not.match(/thanks|7946|0156|ada@|123456/)
  })

  it('is kept to its last whole word', async () => {
    await addOtp('+442079460156')
    expect((await keptOf(`${'word '.repeat(408)}20794601562`))[0]).to.equal('word '.repeat(408).trim())
  })

  it('is not kept where the verification is gone, and kept where there is none to an event', async () => {
    expect((await keptOf('hello Augusta'))[0]).to.equal(null)
    expect((await keptOf('hello, operator', { payload: {} }))[0]).to.equal('hello, operator')
  })

  it('is not kept when the person is erased while the endpoint is called', async () => {
    await addOtp('+442079460156')
    harness.beforeStoreCall('events.change', () => eraseAnswersForOtps(harness.store, 'app_shop', [OTP]))
    const [shown, stored] = await keptOf('hello Augusta')
    expect([shown, JSON.parse(stored).status]).to.deep.equal([null, 'delivered'])
    expect(JSON.parse(stored).discard_answers).to.equal(true)
  })
})
