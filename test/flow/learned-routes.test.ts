// Routes that learn, over HTTP: a provider whose codes are not entered is noticed, stands behind the other and
// recovers; the better one comes first where the app wants it. What was usual before is written into the statistics of
// the past days.
import { expect } from 'chai'
import { HOUR_MS, MINUTE_MS } from '../../infra/time.ts'
import { CACHE_TTL_MS, freshNumber } from '../support/flow.ts'
import { codeIn, describeLiveFlowOnce, type LiveApp } from '../support/live-flow.ts'
import { startReceiver } from '../support/receiver.ts'
import { addStatsHistory } from '../support/stats-history.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

const LIMITS = { app_without_client_ip: [{ max: 100_000, seconds: 60 }] }
/** Counts are stored every five seconds, facts are made every two. */
const COUNTED_MS = 8_000
/** A message is judged after half a minute at the earliest; slots are ten seconds long. */
const JUDGED_MS = 30_000 + 10_000

const FIRST = 'The provider was the first in the list that could be used.'

interface Shop extends LiveApp {
  gateways: Record<'main' | 'spare', HttpGateway>
}

describeLiveFlowOnce('routes that learn', live => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(opened.splice(0).map(one => one.close())))

  async function open(settings: object = {}): Promise<Shop> {
    const [main, spare] = [await startHttpGateway(live.vendorOptions), await startHttpGateway(live.vendorOptions)]
    opened.push(main, spare)
    const provider = (name: string, { url }: HttpGateway, micros: number) => ({
      name,
      channel: 'sms',
      type: 'http',
      config: { url },
      cost_micros: { '*': micros },
    })
    const shop = await live.createApp([provider('main', main, 50_000), provider('spare', spare, 1_000)], {
      routing: { default: ['sms'] },
      limits: LIMITS,
      fraud_guard: { mode: 'off' },
      ...settings,
    })
    return { ...shop, gateways: { main, spare } }
  }
  /** Of each hour of the last two days, by provider how many of its ten messages were approved. */
  const addPast = ({ app }: LiveApp, approved: Record<string, number>): Promise<void> =>
    addStatsHistory(live.countersign.engines.store, {
      app,
      now: live.clock.now(),
      hours: 49,
      traffic: (_, ago) =>
        Object.entries(ago === 0 ? {} : approved).map(([provider, count]) => ({
          channel: 'sms',
          country: 'US',
          provider,
          started: 10,
          delivered: 0,
          approved: count,
          seconds: 9,
        })),
    })
  const messages = ({ gateways }: Shop): [number, number] => [
    gateways.main.messages.length,
    gateways.spare.messages.length,
  ]
  async function send(shop: Shop, count: number, to?: string): Promise<string[]> {
    const sent: string[] = []
    for (let nth = 0; nth < count; nth += 1) {
      const { body, text } = await shop.server.send(to ?? freshNumber())
      expect(body.status, text).to.equal('pending')
      sent.push(body.otp_id)
    }
    for (const otp_id of sent) await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
    return sent
  }
  async function sendAndVerify(shop: Shop, name: 'main' | 'spare'): Promise<void> {
    const [otp_id = ''] = await send(shop, 1)
    const code = codeIn(shop.gateways[name].messages.at(-1)?.requestBody.text)
    expect((await shop.server.verify(otp_id, code)).body.status).to.equal('approved')
  }
  /** Counts are stored, then their messages become old enough. */
  async function judge(): Promise<void> {
    await live.advance(COUNTED_MS)
    await live.advance(JUDGED_MS)
  }
  const rows = async ({ app }: Shop): Promise<Record<string, unknown>[]> =>
    (await live.admin('GET', `/apps/${app}/routes?country=US`)).body.items ?? []
  const states = async (shop: Shop) => (await rows(shop)).map(({ provider, state }) => `${provider} ${state}`)
  const waitForStates = (shop: Shop, ...expected: string[]) =>
    live.eventually(async () => {
      const shown = await states(shop)
      if (shown.join() !== expected.join()) await live.advance(1_000)
      expect(shown).to.deep.equal(expected)
    })
  /** Of the first provider. */
  const waitForMessages = (shop: Shop, expected: number) =>
    live.eventually(async () => {
      const messages = (await rows(shop))[0]?.messages
      if (messages !== expected) await live.advance(1_000)
      expect(messages).to.equal(expected)
    })
  async function pause({ app }: Shop, name: string, paused: boolean): Promise<void> {
    const { status, text } = await live.admin('PUT', `/apps/${app}/providers/${name}`, {
      type: 'http',
      channel: 'sms',
      paused,
    })
    expect(status, text).to.equal(200)
    await live.advance(CACHE_TTL_MS)
  }
  const deliveriesOf = async (otp_ids: readonly string[]) => {
    const found = await live.countersign.engines.store.docs('otps').get(otp_ids)
    return [...found.values()].map(({ context }) => context.deliveries[0])
  }
  const reasonsOf = async (otp_id = ''): Promise<string[]> =>
    (await live.admin('GET', `/verifications/${otp_id}`)).body.timeline.flatMap(
      ({ because }: { because?: string }) => because ?? [],
    )
  const linesOf = (shop: Shop, event: string) =>
    live.countersign.log
      .lines()
      .filter(line => line.msg === event && line.app_id === shop.app)
      .map(({ provider, country }) => `${provider} ${country}`)

  it('notice a silent provider, send by the other, probe, and notice that it recovers', async () => {
    const receiver = await startReceiver()
    opened.push(receiver)
    const shop = await open()
    await addPast(shop, { main: 9, spare: 9 })
    const endpoint = { url: `http://127.0.0.1:${receiver.port}/`, events: ['ops.provider_silent'] }
    expect((await live.admin('POST', `/apps/${shop.app}/endpoints`, endpoint)).status).to.equal(201)

    // These codes are not entered.
    await send(shop, 20)
    expect(messages(shop)).to.deep.equal([20, 0])
    await judge()
    await waitForStates(shop, 'main silent', 'spare ok')
    await live.eventually(() => expect(linesOf(shop, 'provider.silent')).to.deep.equal(['main US']))
    await live.eventually(async () => {
      if (receiver.received.length === 0) await live.advance(1_000)
      expect(receiver.received).to.have.length(1)
    })
    const { type, payload } = JSON.parse(String(receiver.received[0]?.body))
    expect([type, payload.subject, payload.app_id]).to.deep.equal(['ops.provider_silent', 'main', shop.app])

    // It is not known yet whether it is the provider or the shop's page, so the other gets half, and its codes are entered.
    await live.advance(CACHE_TTL_MS)
    const firsts: (string | undefined)[] = []
    while (!firsts.includes('main') || firsts.filter(name => name === 'spare').length < 4) {
      const [otp_id = ''] = await send(shop, 1)
      const [delivery] = await deliveriesOf([otp_id])
      firsts.push(delivery?.provider)
      expect(delivery?.because).to.include({ rule: delivery?.provider === 'spare' ? 'spared' : 'probe', share: 0.5 })
      if (delivery?.provider !== 'spare') continue
      const code = codeIn(shop.gateways.spare.messages.at(-1)?.requestBody.text)
      expect((await shop.server.verify(otp_id, code)).body.status).to.equal('approved')
    }
    await judge()
    await live.eventually(async () => {
      const share = (await rows(shop))[1]?.share
      if (share !== 0.98) await live.advance(1_000)
      expect(share).to.equal(0.98)
    })

    // Where there is no other, it is called all the same.
    await pause(shop, 'spare', true)
    const [before, others] = messages(shop)
    for (let nth = 0; nth < 4; nth += 1) await sendAndVerify(shop, 'main')
    expect(messages(shop)).to.deep.equal([before + 4, others])
    await judge()
    await waitForStates(shop, 'main ok', 'spare paused')
    await live.eventually(() => expect(linesOf(shop, 'provider.recovered')).to.deep.equal(['main US']))
    await pause(shop, 'spare', false)
    const again = await send(shop, 1)
    const [listed] = await deliveriesOf(again)
    expect(listed?.provider).to.equal('main')
    expect(listed, 'nothing is stored').to.not.have.property('because')
    expect(await reasonsOf(again[0])).to.deep.equal([FIRST])
    expect(receiver.received, 'told once').to.have.length(1)
  })

  it('leave out a recipient who comes again within the hour, and messages that the guard suspects', async () => {
    const limits = { ...LIMITS, recipient: [], recipient_messages: [] }
    const shop = await open({ limits, fraud_guard: { mode: 'record' } })
    const isLeftOut = async (to: string) => {
      const [otp_id = ''] = await send(shop, 1, to)
      const found = await live.countersign.engines.store.docs('otps').get([otp_id])
      return found.get(otp_id)?.context.unlearned ?? false
    }
    const to = freshNumber()
    expect([await isLeftOut(to), await isLeftOut(to)]).to.deep.equal([false, true])
    await live.advance(HOUR_MS)
    expect(await isLeftOut(to)).to.equal(false)
    // Neighbours of which none is verified.
    const block = (nth: number) => `+1415557${String(1_000 + nth)}`
    const leftOut: boolean[] = []
    for (let nth = 0; nth < 8; nth += 1) leftOut.push(await isLeftOut(block(nth)))
    await live.advance(3 * MINUTE_MS)
    leftOut.push(await isLeftOut(block(8)))
    expect([leftOut[0], leftOut.at(-1)]).to.deep.equal([false, true])
    await waitForMessages(shop, leftOut.filter(one => !one).length + 2)
  })
})
