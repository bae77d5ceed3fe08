import { expect } from 'chai'
import { ROLES } from '../../infra/config/config.ts'
import { type Countersign, startCountersign } from '../support/countersign.ts'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../support/engines.ts'
import { freshNumber } from '../support/flow.ts'
import { LIVE_ENV, type LiveApp, type LiveFlow, startLiveFlow } from '../support/live-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

onRealEngines('a channel that runs in separate processes', { AMQP_URL, MONGODB_URL }, () => {
  let live: LiveFlow
  let gateway: HttpGateway
  let shop: LiveApp
  const running: Countersign[] = []

  before(async () => {
    live = await startLiveFlow(
      'real',
      ROLES.filter(role => role !== 'channel:sms'),
    )
    gateway = await startHttpGateway(live.vendorOptions)
    const providerFor = (channel: string) => ({
      name: channel,
      channel,
      type: 'http',
      config: { url: `${gateway.url}/${channel}` },
    })
    shop = await live.createApp([providerFor('sms'), providerFor('telegram')], {
      routing: { default: ['sms', 'telegram'] },
      resend_cooldown_seconds: [0],
      limits: { app_without_client_ip: [{ max: 10_000, seconds: 60 }] },
    })
  })
  after(async () => {
    for (const countersign of running) await countersign.stop()
    await gateway.close()
    await live.stop()
  })

  async function start(): Promise<Countersign> {
    const { site } = live.countersign
    // The process of the tests answers the calls of all: on a slow machine that takes longer than the time of LIVE_ENV.
    const env = { ...LIVE_ENV, WEBHOOK_BACKOFF: '200', PROVIDER_TIMEOUT: '30000' }
    const countersign = await startCountersign({ engines: 'real', site, env, roles: ['channel:sms'] })
    running.push(countersign)
    return countersign
  }
  const send = async (): Promise<string> => (await shop.server.send(freshNumber())).body.otp_id
  const sendMany = (many: number): Promise<string[]> => Promise.all(Array.from({ length: many }, send))
  const attempts = ({ log }: Countersign): number =>
    log.lines().filter(({ msg }) => msg === 'delivery.attempted').length
  const callsTo = (path: string): number => gateway.requests.filter(seen => seen.path === path).length

  it('keeps its messages queued until a process runs, and delays no other channel', async () => {
    const queued = await send()
    const resent = await send()
    await shop.server.resend(resent, 'telegram')
    await live.eventually(async () => expect(await live.deliveries(shop.server, resent)).to.include('telegram sent'))
    expect(await live.deliveries(shop.server, queued)).to.deep.equal(['sms queued'])
    expect(callsTo('/sms')).to.equal(0)
    await start()
    await live.waitForDeliveries(shop.server, queued, 'sms sent')
  })

  it('shares its queue among its processes, and sends each message once', async () => {
    const [first] = running
    const second = await start()
    const before = callsTo('/sms')
    const otp_ids = await sendMany(24)
    for (const otp_id of otp_ids) await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
    expect(callsTo('/sms') - before).to.equal(24)
    expect(new Set(gateway.messages.map(({ delivery_id }) => delivery_id)).size).to.equal(gateway.messages.length)
    for (const worker of [first, second]) expect(worker && attempts(worker)).to.be.greaterThan(1)
  })

  it('loses no message when one of its processes stops while it works', async () => {
    const before = callsTo('/sms')
    gateway.always({ fault: { kind: 'slow', ms: 50 } })
    const stopped = running.pop() as Countersign
    const attempted = attempts(stopped)
    const sending = sendMany(24)
    await live.eventually(() => expect(attempts(stopped)).to.be.above(attempted))
    await stopped.stop()
    for (const otp_id of await sending) await live.waitForDeliveries(shop.server, otp_id, 'sms sent')
    expect(callsTo('/sms') - before).to.equal(24)
  })
})
