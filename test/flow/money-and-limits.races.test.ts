// Invariants of money and limits while hundreds of sends, failures, credits, resends and a key revocation run at once; on the real
// engines with two OTP actors.
import type { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { addressCounters } from '../../services/domain/verifications/counter-names.ts'
import type { Answer } from '../support/api-caller.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { countIn } from '../support/limit-windows.ts'
import { describeLiveFlow, type LiveFlow } from '../support/live-flow.ts'
import type { EngineSet } from '../support/site.ts'
import { startTwilio, type Twilio } from '../support/vendors/twilio.ts'

const SMS_PRICE = 40_000
const MAX_SENDS_PER_RECIPIENT = 2
const MAX_MESSAGES_PER_RECIPIENT = 3
const RECIPIENTS = 40
const SENDS = 240
/** Callers at once: as many as a small machine can answer in time. */
const CALLERS = 40

/** A loaded machine may answer 503. As documented, the caller repeats the call with the same idempotency key. */
const retried = (call: () => Promise<Answer>): Promise<Answer> =>
  eventually(async () => {
    const answer = await call()
    expect(answer.status).to.not.equal(503)
    return answer
  })

describeLiveFlow('sends, failures, credits, resends and a key revocation at once', (live, engines) => {
  let twilio: Twilio
  let second: Countersign | null = null
  before(async () => {
    twilio = await startTwilio(live.vendorOptions)
    await live.admin('PUT', '/prices', { prices: [{ channel: 'sms', country: '*', micros: SMS_PRICE }] })
    await live.advance(CACHE_TTL_MS)
    second = await startSecondActor(live, engines)
  })
  after(() => Promise.all([twilio.close(), second?.stop()]))

  it('leave a balance that equals the sum of the ledger and is not negative, and every accepted send and every message is counted', async () => {
    const { account_sid, auth_token, url: base_url } = twilio
    const config = { account_sid, auth_token, base_url, from: '+15550001111' }
    const { app, server } = await live.createApp([{ name: 'main', channel: 'sms', type: 'twilio', config }], {
      resend_cooldown_seconds: [0],
      limits: {
        recipient: [{ max: MAX_SENDS_PER_RECIPIENT, seconds: 600 }],
        recipient_messages: [{ max: MAX_MESSAGES_PER_RECIPIENT, seconds: 600 }],
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
    const { store } = live.countersign.engines
    const docs = await store.docs('otps').find({ app_id: app }, { sort: { _id: -1 }, limit: 1_000 })
    const keys = [...new Set(docs.map(({ recipient }) => `${app}:live:sends:server:${recipient}`))]
    const counters = [...(await store.docs('counters').get(keys)).values()]
    const countedIn = (window: string): number[] => counters.map(({ windows }) => countIn(windows[window]))
    const sumOf = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0)
    expect(sumOf(countedIn('s600')), 'counted sends').to.equal(sends)
    const messages = sumOf(docs.map(({ context }) => context.deliveries.length))
    expect(sumOf(countedIn('messages_s600')), 'counted messages').to.equal(messages)
    expect(Math.max(...countedIn('messages_s600'))).to.be.at.most(MAX_MESSAGES_PER_RECIPIENT)
  })
})

/** Of each /64; a /56 has four times as many, a /48 sixteen times. */
const MAX_PER_ADDRESS = 2
const MAX_OF_DEVICES = 12
/** Of 64 bits: the even ones in a /48 of the devices, the odd ones in a /48 of the servers, four in each of its five /56. A device's first
 *  send from a /64 is then refused for nothing but the limit of devices, in any order of the calls. */
const NETWORKS = 40
const STEPS = 120
/** Few enough that a loaded machine answers each resend in time: it has no idempotency key. */
const PARALLEL_STEPS = 12

describeLiveFlow('sends and resends by servers and devices from two IPv6 networks at once', (live, engines) => {
  let second: Countersign | null = null
  before(async () => {
    second = await startSecondActor(live, engines)
  })
  after(() => second?.stop())

  it('never exceed a limit, and count exactly the accepted ones in every scope', async () => {
    const rule = (max: number) => [{ max, seconds: 600 }]
    const { app, server } = await live.createApp([{ name: 'box', channel: 'sms', type: 'sandbox', config: {} }], {
      publishable_send: true,
      publishable_challenge: 'off',
      fraud_guard: { mode: 'off' },
      resend_cooldown_seconds: [0],
      limits: { client_ip: rule(MAX_PER_ADDRESS), app: rule(1_000), app_publishable: rule(MAX_OF_DEVICES) },
    })
    const device = await live.createKey(app, 'publishable', 'live')
    const addressOf = (nth: number): string => {
      const network = nth % NETWORKS
      const site = nth % 2 === 0 ? 'c0d' : 'c0c'
      return `2a01:4f8:${site}:${(network % 5) + 1}0${Math.floor(network / 5)}::${nth + 1}`
    }
    const accepted: { address: string; byDevice: boolean }[] = []
    const refused: string[] = []
    const record = ({ status, body }: Answer, address: string, byDevice: boolean): void => {
      if (status === 200) accepted.push({ address, byDevice })
      else refused.push(body.scope ?? body.type)
    }
    const runStep = async (nth: number): Promise<void> => {
      const address = addressOf(nth)
      const byDevice = nth % 2 === 0
      const [to, idempotency] = [freshNumber(), `step ${nth}`]
      const sent = await retried(() =>
        byDevice
          ? device.send(to, { forwarded: address, idempotency })
          : server.send(to, { client_ip: address, idempotency }),
      )
      record(sent, address, byDevice)
      if (sent.status !== 200) return
      const resentByDevice = nth % 4 < 2
      const by = resentByDevice ? device : server
      record(await by.resend(sent.body.otp_id), address, resentByDevice)
    }
    const callers = Array.from({ length: PARALLEL_STEPS }, async (_, caller) => {
      for (let nth = caller; nth < STEPS; nth += PARALLEL_STEPS) await runStep(nth)
    })
    await live.advanceUntil(Promise.all(callers))

    expect(new Set(refused)).to.deep.equal(new Set(['client_ip', 'app']))
    const { store } = live.countersign.engines
    const { data, code } = live.countersign.secrets
    const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
    const acceptedByNetwork = new Map<string, { accepted: number; max: number }>()
    for (const { address } of accepted)
      for (const { key, limitFactor } of addressCounters(keyring, { app_id: app, mode: 'live' }, address)) {
        const before = acceptedByNetwork.get(key)?.accepted ?? 0
        acceptedByNetwork.set(key, { accepted: before + 1, max: MAX_PER_ADDRESS * limitFactor })
      }
    for (const { accepted: count, max } of acceptedByNetwork.values()) expect(count).to.be.at.most(max)
    const byDevices = accepted.filter(({ byDevice }) => byDevice).length
    expect(byDevices).to.be.within(1, MAX_OF_DEVICES)

    const expected = Object.fromEntries([...acceptedByNetwork].map(([key, { accepted: count }]) => [key, count]))
    expected[`${app}:live:app`] = accepted.length - byDevices
    expected[`${app}:live:app:publishable`] = byDevices
    const counters = await store.docs('counters').get(Object.keys(expected))
    const counted = [...counters].map(([key, { windows }]) => [key, countIn(windows.s600)])
    expect(Object.fromEntries(counted), 'what a refused call took is given back').to.deep.equal(expected)
  })
})

/** Null on the embedded engines, which have one process. */
async function startSecondActor({ countersign }: LiveFlow, engines: EngineSet): Promise<Countersign | null> {
  if (engines === 'embedded') return null
  const { site, config, secrets } = countersign
  const env = { CODE_SECRETS: keysOf(secrets.code), DATA_KEYS: keysOf(secrets.data) }
  return startCountersign({
    engines,
    site,
    roles: ['otp'],
    env: { ...site.env, ...env, CHANNEL_BACKOFF: config.backoff.channel.join(), WEBHOOK_BACKOFF: '200' },
  })
}

const keysOf = (keys: readonly { id: string; key: Buffer }[]): string =>
  keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join()
