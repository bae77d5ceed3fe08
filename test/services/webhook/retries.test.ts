// One event on its way to one endpoint: what is sent, when it is sent again, and what is written down about it.
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { ForbiddenTarget, Lost, NotSent } from '../../../infra/outbound/outbound.ts'
import { eachStore } from '../../support/stores.ts'
import {
  BACKOFF,
  expectStatus,
  hanging,
  SECONDS,
  secretOf,
  type WebhookWorld,
  webhookWorld,
} from '../../support/webhooks.ts'

eachStore('an event on its way', fresh => {
  let world: WebhookWorld
  afterEach(() => world.stop())

  /** The times between its attempts. */
  const spacing = (id: string): number[] => {
    const times = world.callsOf(id).map(({ at }) => at)
    return times.slice(1).map((at, before) => at - (times[before] ?? 0))
  }

  it('is one POST with exactly its envelope, signed, once it is taken', async () => {
    world = await webhookWorld(await fresh())
    const id = await world.happen('app_shop', { mode: 'live' })
    const event = await world.soon(() => expectStatus(world, id, 'delivered'))
    const [call, ...more] = world.callsOf(id)
    expect(more).to.deep.equal([])
    expect(call?.url).to.equal('https://app_shop.example/hooks')
    expect(call?.body).to.equal(
      JSON.stringify({ id, type: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } }),
    )
    const timestamp = String(Math.floor((call?.at ?? 0) / 1000))
    const secret = `whsec_${secretOf('app_shop')}`
    expect(call?.headers).to.deep.include({
      ...{ 'content-type': 'application/json', 'x-webhook-mode': 'live', 'x-webhook-timestamp': timestamp },
      'x-webhook-signature': createHmac('sha256', secret).update(`${timestamp}.${call?.body}`).digest('hex'),
      'webhook-id': id,
    })
    const { attempts, next_attempt_at, due_at, claimed_at, ...rest } = event
    expect([next_attempt_at, due_at, claimed_at]).to.deep.equal([undefined, undefined, undefined])
    expect(rest).to.deep.include({ round: 1, tries: 1 })
    expect(attempts).to.deep.equal([
      { round: 1, attempt: 1, at: call?.at, ms: 0, status: 200, error: null, response: '' },
    ])
  })

  it('is sent again with the same id and bytes and a fresh signature, after the waits of the ladder', async () => {
    world = await webhookWorld(await fresh())
    let failures = 0
    world.answering('app_shop', () => (failures++ < 3 ? 500 : 204))
    const id = await world.happen('app_shop')
    await world.soon(async () => expect((await world.event(id)).attempts).to.have.length(1))
    const first = world.callsOf(id)[0]?.at ?? 0
    expect(await world.event(id)).to.include({ status: 'pending', next_attempt_at: first + 5 * SECONDS })
    await world.pass(200 * SECONDS)
    const { attempts } = await world.soon(() => expectStatus(world, id, 'delivered'))
    expect(attempts?.map(({ attempt, status }) => [attempt, status])).to.deep.equal([
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 204],
    ])
    for (const [at, ms] of spacing(id).entries())
      expect(ms).to.be.within(BACKOFF[at] ?? 0, (BACKOFF[at] ?? 0) + SECONDS)
    const calls = world.callsOf(id)
    expect(new Set(calls.map(({ body }) => body))).to.have.property('size', 1)
    for (const header of ['x-webhook-signature', 'x-webhook-timestamp', 'webhook-signature'])
      expect(new Set(calls.map(({ headers }) => headers[header])), header).to.have.property('size', 4)
  })

  for (const [random, share] of [
    [0, 0.8],
    [0.999_999, 1.2],
  ] as const)
    it(`waits ${share} of a rung at an end of the jitter, and never calls before`, async () => {
      world = await webhookWorld(await fresh(), { random: () => random })
      world.answering('app_shop', () => 503)
      const id = await world.happen('app_shop')
      await world.pass(240 * SECONDS)
      await world.soon(() => expectStatus(world, id, 'failed'))
      for (const [at, ms] of spacing(id).entries()) {
        const rung = (BACKOFF[at] ?? 0) * share
        expect(ms, `wait ${at + 1}`).to.be.within(Math.floor(rung), rung + SECONDS)
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
      world = await webhookWorld(await fresh())
      world.answering('app_shop', answers)
      const id = await world.happen('app_shop')
      const [attempt] = await world.soon(async () => {
        const { attempts = [] } = await world.event(id)
        expect(attempts).to.have.length(1)
        return attempts
      })
      expect(attempt).to.deep.include({ status: null, error, response: null })
      expect((await world.event(id)).next_attempt_at).to.be.greaterThan(world.clock.now())
    })

  it('gives up on an answer after 15 seconds, and keeps the first 2 KB of one that came', async () => {
    world = await webhookWorld(await fresh())
    const slow = hanging()
    world.answering('app_shop', slow.answers)
    const id = await world.happen('app_shop')
    await world.soon(() => expect(slow.waiting()).to.equal(1))
    world.answering('app_shop', async () => ({ status: 500, headers: {}, body: Buffer.from('é'.repeat(3_000)) }))
    await world.pass(14 * SECONDS)
    expect(slow.waiting()).to.equal(1)
    await world.pass(2 * SECONDS)
    await world.soon(async () =>
      expect((await world.event(id)).attempts?.[0]).to.include({ error: 'timeout', ms: 15_000 }),
    )
    await world.pass(6 * SECONDS)
    await world.soon(async () => expect((await world.event(id)).attempts?.[1]?.response).to.equal('é'.repeat(1_024)))
  })

  it('takes nothing but 2xx for an answer', async () => {
    world = await webhookWorld(await fresh())
    world.answering('app_shop', call => Number(JSON.parse(call.body).payload.otp_id))
    for (const [status, outcome] of [
      [200, 'delivered'],
      [299, 'delivered'],
      [301, 'pending'],
      [404, 'pending'],
      [199, 'pending'],
    ] as const) {
      const id = await world.happen('app_shop', { payload: { otp_id: String(status) } })
      await world.soon(async () => {
        expect((await world.event(id)).attempts).to.have.length(1)
        await expectStatus(world, id, outcome)
      })
    }
  })

  it('leaves one line in the log per attempt, without address or body', async () => {
    world = await webhookWorld(await fresh())
    const id = await world.happen('app_shop')
    await world.soon(() => expectStatus(world, id, 'delivered'))
    const lines = world.log.lines().filter(({ msg }) => msg === 'webhook.attempted')
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include({ event_id: id, app_id: 'app_shop', attempt: 1, outcome: 'delivered', status: 200 })
    expect(world.log.output()).not.to.include('app_shop.example').and.not.to.include('otp_1')
    expect((await world.metrics.render()).body).to.include('countersign_webhook_attempts_total{outcome="delivered"} 1')
  })
})
