// Invariants of money and limits while hundreds of sends, failures, credits, resends and a key revocation run at once; on the real
// engines with two OTP actors.
import type { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Answer } from '../support/api-caller.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { describeLiveFlow } from '../support/live-flow.ts'
import { startTwilio, type Twilio } from '../support/vendors/twilio.ts'

const SMS_PRICE = 40_000
const MAX_SENDS_PER_RECIPIENT = 2
const RECIPIENTS = 40
const SENDS = 240
/** Callers at once: as many as a small machine can answer in time. */
const CALLERS = 40

describeLiveFlow('sends, failures, credits, resends and a key revocation at once', (live, engines) => {
  let twilio: Twilio
  let second: Countersign | null = null
  before(async () => {
    twilio = await startTwilio(live.vendorOptions)
    await live.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: SMS_PRICE }] })
    await live.advance(CACHE_TTL_MS)
    if (engines === 'embedded') return
    const { site, config } = live.countersign
    const env = {
      CODE_SECRETS: keysOf(live.countersign.secrets.code),
      DATA_KEYS: keysOf(live.countersign.secrets.data),
    }
    second = await startCountersign({
      engines,
      site,
      roles: ['otp'],
      env: { ...site.env, ...env, CHANNEL_BACKOFF: config.backoff.channel.join(), WEBHOOK_BACKOFF: '200' },
    })
  })
  after(() => Promise.all([twilio.close(), second?.stop()]))

  it('leave a balance that equals the sum of the ledger and is not negative, and every accepted send is counted', async function () {
    this.timeout(120_000)
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const { app, server } = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }], {
      resend_cooldown_seconds: [0],
      limits: {
        recipient: [{ max: MAX_SENDS_PER_RECIPIENT, seconds: 600 }],
        app_without_client_ip: [{ max: 10_000, seconds: 60 }],
      },
    })
    const company = app.replace('app_', 'cmp_')
    const revoked = await live.createKey(app, 'server', 'live')
    const credit = (micros: number) => live.admin('POST', `/companies/${company}/credit`, { micros, note: 'race' })
    await credit(20 * SMS_PRICE)
    for (let nth = 0; nth < SENDS; nth += 1)
      twilio.next({ receipts: nth % 3 === 0 ? ['failed', 'failed'] : ['delivered'] })

    const recipients = Array.from({ length: RECIPIENTS }, freshNumber)
    const accepted = new Map<string, number>()
    const statuses: number[] = []
    const record = (to: string, { status, body }: Answer): string | null => {
      statuses.push(status)
      if (status === 200) accepted.set(to, (accepted.get(to) ?? 0) + 1)
      return status === 200 ? body.otp_id : null
    }
    /** A loaded machine may answer 503. As documented, the caller repeats the call with the same idempotency key. */
    const retried = (call: () => Promise<Answer>): Promise<Answer> =>
      eventually(async () => {
        const answer = await call()
        expect(answer.status).to.not.equal(503)
        return answer
      }, 60_000)
    const runStep = async (nth: number): Promise<void> => {
      const to = recipients[nth % RECIPIENTS] ?? ''
      const by = nth % 4 === 0 ? revoked : server
      const otp_id = record(to, await retried(() => by.send(to, { idempotency: `send ${nth}` })))
      if (otp_id && nth % 5 === 0) statuses.push((await retried(() => server.resend(otp_id))).status)
      if (nth % 10 === 0) await credit(SMS_PRICE)
      if (nth === SENDS / 2) await live.admin('DELETE', `/keys/${revoked.id}`)
    }
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let nth = caller; nth < SENDS; nth += CALLERS) await runStep(nth)
    })
    await live.advanceUntil(Promise.all(callers))

    expect(statuses.filter(status => ![200, 401, 402, 429].includes(status))).to.deep.equal([])
    expect(Math.max(...accepted.values())).to.be.at.most(MAX_SENDS_PER_RECIPIENT)
    const reconciliation = await live.eventually(async () => {
      const { body } = await live.admin('GET', `/companies/${company}/reconciliation`)
      expect(body.problems).to.deep.equal([])
      return body
    })
    expect(reconciliation.sum).to.equal(reconciliation.balance)
    expect(reconciliation.balance).to.be.at.least(0)
    const sends = [...accepted.values()].reduce((sum, count) => sum + count, 0)
    const otps = await live.countersign.engines.store.docs('otps').count({ app_id: app })
    expect(otps, 'accepted sends').to.equal(sends)
    expect(await countedSends(), 'counted sends').to.equal(sends)

    async function countedSends(): Promise<number> {
      const { store } = live.countersign.engines
      const docs = await store.docs('otps').find({ app_id: app }, { sort: { _id: -1 }, limit: 1_000 })
      const keys = [...new Set(docs.map(({ recipient }) => `${app}:live:sends:server:${recipient}`))]
      const counters = await store.docs('counters').get(keys)
      return [...counters.values()].reduce(
        (sum, { windows }) => sum + (windows.s600?.count ?? 0) + (windows.s600?.before ?? 0),
        0,
      )
    }
  })
})

const keysOf = (keys: readonly { id: string; key: Buffer }[]): string =>
  keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join()
