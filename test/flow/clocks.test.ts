// Processes whose clocks disagree. A process decides by its clock what has expired, so one whose clock is wrong must do no work.
import { expect } from 'chai'
import { type Clock, systemClock } from '../../infra/clock.ts'
import type { Check } from '../../infra/http/health.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { type Flow, freshNumber, startFlow, type Tenant } from '../support/flow.ts'
import { createRunningClock } from '../support/running-clock.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const SENDS = 40

const shiftedClock = (ms: number): Clock => ({ now: () => Date.now() + ms, after: systemClock.after })

onRealEngines('an OTP process beside one with the right clock', { AMQP_URL, MONGODB_URL }, () => {
  let flow: Flow
  let shop: Tenant
  let second: Countersign

  beforeEach(async () => {
    flow = await startFlow({ engines: 'real' })
    shop = await flow.createTenant({ limits: { app_without_client_ip: [{ max: 10_000, seconds: 60 }] } })
  })
  afterEach(async () => {
    await second.stop()
    await flow.stop()
  })

  async function startSecond(clock: Clock, untilReady: boolean): Promise<void> {
    const { site, config } = flow.countersign
    const delays = { CHANNEL_BACKOFF: config.backoff.channel.join(), WEBHOOK_BACKOFF: config.backoff.webhook.join() }
    const options = { engines: 'real' as const, site, env: delays, roles: ['otp'], clock, untilReady }
    second = await startCountersign({ ...options, storeHasOwnTime: true })
  }
  const readiness = async () => {
    const answer = await fetch(`${second.url}/readyz`)
    const { checks } = (await answer.json()) as { checks: Check[] }
    return { status: answer.status, clock: checks.find(({ name }) => name === 'clock') }
  }
  /** Every accepted send arrives, and its code is right. */
  async function expectAllDelivered(): Promise<void> {
    const sent = await Promise.all(
      Array.from({ length: SENDS }, async () => {
        const to = freshNumber()
        return { to, answer: await shop.server.send(to) }
      }),
    )
    for (const { to, answer } of sent) {
      expect(answer.status, answer.text).to.equal(200)
      const verified = await shop.server.verify(answer.body.otp_id, await flow.waitForCode(to))
      expect(verified.body, verified.text).to.include({ status: 'approved' })
    }
  }

  for (const [what, shiftMs] of [
    ['an hour slow', -HOUR_MS],
    ['an hour fast', HOUR_MS],
  ] as const)
    it(`takes no call while its clock is ${what}, says why, and no accepted send is lost`, async () => {
      await startSecond(shiftedClock(shiftMs), false)
      await flow.eventually(() =>
        expect(second.log.lines().find(({ msg }) => msg === 'clock.wrong')?.offset_ms).to.be.closeTo(shiftMs, 2_000),
      )
      await expectAllDelivered()
      const { status, clock } = await readiness()
      expect(status).to.equal(503)
      expect(clock?.ok).to.equal(false)
      expect(clock?.detail).to.match(shiftMs > 0 ? /^3\d{3}\.\d s ahead of/ : /^3\d{3}\.\d s behind/)
    })

  it('gives its calls back when its clock goes wrong while it works', async () => {
    const clock = createRunningClock()
    await startSecond(clock, true)
    expect((await readiness()).status).to.equal(200)
    await clock.advance(HOUR_MS)
    await flow.eventually(async () => expect((await readiness()).status).to.equal(503))
    await flow.eventually(async () =>
      expect(await flow.countersign.engines.broker.depth('otp.calls')).to.include({ consumers: 1 }),
    )
    await expectAllDelivered()
  })
})
