// SMS pumping (toll fraud) over HTTP: what the fraud guard records, and what it refuses.
import { expect } from 'chai'
import { type Answer, type Caller, refusal } from '../support/api-caller.ts'
import { describeFlow } from '../support/shared-flow.ts'
import { itOnceOf } from '../support/site.ts'

const PLENTY = [{ max: 100_000, seconds: 60 }]
const LIMITS = { app_without_client_ip: PLENTY, recipient: PLENTY, recipient_messages: PLENTY }
const MINUTE_MS = 60_000

let blocks = 0
/** A block of ten thousand British mobile numbers that no other test uses; the function gives one number of each hundred. */
const freshBlock = (): ((nth: number) => string) => {
  blocks += 1
  const block = `+447400${String(blocks).padStart(2, '0')}`
  return nth => `${block}${String(nth * 101).padStart(4, '0')}`
}

interface Decision {
  enforced: boolean
  outcome: string
  verdict: string
  score: number
  otp_id: string
  masked_recipient: string
  channel: string | null
  reasons: { signal: string; scope: string; subject: string; detail: string }[]
}

describeFlow('the fraud guard', (flow, engines) => {
  /** For rules that the guard applies to what it has counted. That it counts on these engines is shown by the other tests. */
  const itOnce = itOnceOf(engines)
  const open = (guard: object, settings: object = {}) =>
    flow.createTenant({ limits: LIMITS, fraud_guard: guard, resend_cooldown_seconds: [0], ...settings })
  const decisions = async (app: string): Promise<Decision[]> =>
    (await flow.admin('GET', `/apps/${app}/fraud?limit=100`)).body.items
  const pump = (by: Caller, block: (nth: number) => string, from: number, many: number): Promise<Answer[]> =>
    inTurn(many, nth => by.send(block(from + nth)))

  it('refuses numbers of a block in which no code is verified, states when to retry, and records the reason', async () => {
    const { app, server } = await open({ mode: 'on' })
    const block = freshBlock()
    expect(statuses(await pump(server, block, 0, 19))).to.deep.equal(Array(19).fill(200))
    await flow.advance(3 * MINUTE_MS)
    await pump(server, block, 19, 1)
    const answers = await pump(server, block, 20, 25)
    const refused = answers.at(-1) as Answer
    expect(refusal(refused)).to.deep.include({ type: 'RateLimitExceededError', status: 429, scope: 'fraud_guard' })
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 600)
    expect((await server.send('+447911123456')).status, 'a number of another block').to.equal(200)

    const [decision, ...others] = await flow.eventually(async () => {
      const kept = await decisions(app)
      expect(kept).to.have.length(answers.filter(({ status }) => status === 429).length)
      return kept
    })
    expect(decision).to.include({ enforced: true, outcome: 'refused', verdict: 'refuse', score: 100, channel: null })
    expect(decision?.masked_recipient).to.match(/^\+44\*{4}\d\d$/)
    expect(decision?.reasons[0]).to.deep.include({ signal: 'neighbours', scope: 'block', subject: '+447400' })
    expect(decision?.reasons[0]?.detail).to.match(/\+447400, \d+ others were sent to within an hour and 0 verified/)
    expect(others.length).to.be.greaterThan(10)
  })

  itOnce('only records by default, nothing where it is off, and each app and kind of key apart', async () => {
    const block = freshBlock()
    const [record, off, on] = [await open({}), await open({ mode: 'off' }), await open({ mode: 'on' })]
    for (const { server } of [record, off]) await pump(server, block, 0, 20)
    await pump(on.device, block, 0, 20)
    await flow.advance(3 * MINUTE_MS)
    for (const { server } of [record, off, on])
      expect(statuses(await pump(server, block, 20, 5))).to.deep.equal(Array(5).fill(200))
    expect((await on.device.send(block(30))).body.scope).to.equal('fraud_guard')
    const recorded = await flow.eventually(async () => {
      const all = await decisions(record.app)
      expect(all).to.have.length(5)
      return all
    })
    expect(recorded[0]).to.include({ enforced: false, verdict: 'refuse' })
    // A recorded send exists as a verification.
    expect((await flow.admin('GET', `/verifications/${recorded[0]?.otp_id}`)).status).to.equal(200)
    expect(await decisions(off.app)).to.deep.equal([])
    expect((await flow.admin('GET', `/apps/${off.app}/fraud/prefixes`)).body.items).to.deep.equal([])
  })

  it('neither counts a send that it refuses nor uses up its idempotency key', async () => {
    const { app, server } = await open({ mode: 'on' }, { limits: { ...LIMITS, recipient: [{ max: 1, seconds: 600 }] } })
    const block = freshBlock()
    await pump(server, block, 0, 20)
    await flow.advance(3 * MINUTE_MS)
    const send = () => server.send(block(50), { idempotency: 'once' })
    expect((await send()).body.scope).to.equal('fraud_guard')
    await flow.changeSettings(app, { fraud_guard: { mode: 'off' } })
    expect((await send()).status).to.equal(200)
    await flow.waitForCode(block(50), 1)
  })

  itOnce('moves a send that it would refuse to a channel without a price, where the app asks for that', async () => {
    const { app, server } = await open({ mode: 'on', action: 'free_channel' })
    const block = freshBlock()
    await pump(server, block, 0, 20)
    await flow.advance(3 * MINUTE_MS)
    const { status, body } = await server.send(block(70))
    expect({ status, channel: body.channel }).to.deep.equal({ status: 200, channel: 'whatsapp' })
    await flow.eventually(async () => {
      const moved = { enforced: true, outcome: 'moved', channel: 'whatsapp', otp_id: body.otp_id }
      expect((await decisions(app))[0]).to.include(moved)
    })
    await flow.changeSettings(app, { channels: { whatsapp: { enabled: false }, telegram: { enabled: false } } })
    expect((await server.send(block(71))).body.scope, 'no free channel is left').to.equal('fraud_guard')
  })

  const live = async (settings: object = {}) => {
    const { app, server } = await open({}, { publishable_send: true, publishable_challenge: 'off', ...settings })
    await flow.admin('PUT', `/apps/${app}/providers/box`, { channel: 'sms', type: 'sandbox', config: {} })
    const device = await flow.createKey(app, 'publishable', 'live')
    const start = (number: string) => device.send(number, { forwarded: '81.2.69.142' })
    return { app, server, device, start }
  }
  const HOUR_MS = 60 * MINUTE_MS

  it('lets a number that is never verified wait before its next live start by a device, until it is approved', async () => {
    const { app, device, start } = await live()
    const number = freshBlock()(1)
    for (let nth = 0; nth < 3; nth += 1) expect((await start(number)).status).to.equal(200)
    const refused = await start(number)
    expect(refusal(refused)).to.deep.include({ status: 429, scope: 'fraud_guard' })
    expect(refused.body.retry_after).to.be.within(HOUR_MS / 1000 - 60, HOUR_MS / 1000)
    await flow.eventually(async () => expect((await decisions(app))[0]?.reasons[0]?.scope).to.equal('number'))
    await flow.advance(HOUR_MS)
    const { body } = await start(number)
    expect((await start(number)).body.retry_after).to.be.within(4 * (HOUR_MS / 1000) - 60, 4 * (HOUR_MS / 1000))
    const code = await flow.waitForCode(number, 4)
    expect((await device.verify(body.otp_id, code)).body.status).to.equal('approved')
    await flow.eventually(async () => expect((await start(number)).status).to.equal(200))
  })

  itOnce('lets no number wait in test mode, for servers, or where the guard only records', async () => {
    const { app, server, start } = await live({ fraud_guard: { mode: 'record' } })
    const number = freshBlock()(1)
    for (let nth = 0; nth < 5; nth += 1) expect((await start(number)).status).to.equal(200)
    await flow.changeSettings(app, { fraud_guard: { mode: 'on' } })
    const testDevice = await flow.createKey(app, 'publishable')
    for (const caller of [server, testDevice])
      for (let nth = 0; nth < 5; nth += 1) expect((await caller.send(number)).status).to.equal(200)
    expect((await start(number)).body.scope, 'starts in the mode that records count').to.equal('fraud_guard')
  })
})

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status)

async function inTurn(many: number, call: (nth: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  for (let nth = 0; nth < many; nth += 1) answers.push(await call(nth))
  return answers
}
