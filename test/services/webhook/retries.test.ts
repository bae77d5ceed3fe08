// One event on its way to one endpoint: what is sent, when it is sent again, and what is stored about it.
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { ForbiddenTarget, Lost, NotSent } from '../../../infra/outbound/outbound.ts'
import { answerText } from '../../../services/domain/privacy/event-answers.ts'
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

  it('is sent again with the same id and bytes and a new signature, after the configured waits', async () => {
    harness = await createWebhookHarness(await fresh())
    let failures = 0
    harness.respondWith('app_shop', () => (failures++ < 3 ? 500 : 204))
    const id = await harness.emitEvent('app_shop')
    await harness.soon(async () => expect((await harness.event(id)).attempts).to.have.length(1))
    const first = harness.callsOf(id)[0]?.at ?? 0
    expect(await harness.event(id)).to.include({ status: 'pending', next_attempt_at: first + 5 * SECONDS })
    await harness.passTime(200 * SECONDS)
    const { attempts } = await harness.soon(() => expectStatus(harness, id, 'delivered'))
    expect(attempts.map(({ attempt, status }) => [attempt, status])).to.deep.equal([
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 204],
    ])
    for (const [at, ms] of spacing(id).entries())
      expect(ms).to.be.within(BACKOFF[at] ?? 0, (BACKOFF[at] ?? 0) + SECONDS)
    const calls = harness.callsOf(id)
    expect(new Set(calls.map(({ body }) => body))).to.have.property('size', 1)
    for (const header of ['x-webhook-signature', 'x-webhook-timestamp', 'webhook-signature'])
      expect(new Set(calls.map(({ headers }) => headers[header])), header).to.have.property('size', 4)
  })

  for (const [random, share] of [
    [0, 0.8],
    [0.999_999, 1.2],
  ] as const)
    it(`waits ${share} of the configured time at an end of the jitter, and never calls earlier`, async () => {
      harness = await createWebhookHarness(await fresh(), { random: () => random })
      harness.respondWith('app_shop', () => 503)
      const id = await harness.emitEvent('app_shop')
      await harness.passTime(240 * SECONDS, SECONDS)
      await harness.soon(() => expectStatus(harness, id, 'failed'))
      for (const [at, ms] of spacing(id).entries()) {
        const waitMs = (BACKOFF[at] ?? 0) * share
        expect(ms, `wait ${at + 1}`).to.be.within(Math.floor(waitMs), waitMs + SECONDS)
      }
    })

  const endings: [string, () => never, string][] = [
    [
      'an address that may not be called',
      () => {
        throw new ForbiddenTarget('10.0.0.1 is private')
      },
      'forbidden',
    ],
    [
      'an endpoint that is not there',
      () => {
        throw new NotSent('connection refused')
      },
      'unreachable',
    ],
    [
      'a connection that breaks',
      () => {
        throw new Lost('reset')
      },
      'lost',
    ],
  ]
  for (const [what, answers, error] of endings)
    it(`counts ${what} as a failed attempt`, async () => {
      harness = await createWebhookHarness(await fresh())
      harness.respondWith('app_shop', answers)
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
