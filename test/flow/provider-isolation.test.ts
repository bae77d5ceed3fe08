// On the embedded engines only: their clock stands still, so a test can tell whether one app waits for the calls of another.
import { expect } from 'chai'
import { readConfig } from '../../infra/config/config.ts'
import { prefetchFor } from '../../services/channel/admission/provider-gates.ts'
import type { Owed } from '../../services/domain/backlog/backlog.ts'
import { freshNumber } from '../support/flow.ts'
import { type LiveApp, type LiveFlow, startLiveFlow } from '../support/live-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

/** Longer than the test takes, so that no call times out. */
const TIMEOUT_MS = 600_000
/** More messages than a channel process takes at once. */
const PREFETCH = prefetchFor(readConfig({}, []).provider.maxCalls)
const IN_QUEUE = 20
const BACKLOG = PREFETCH + IN_QUEUE
/** Calls at once of a provider that has not answered yet. */
const CALLS = 64

describe('a provider that hangs', () => {
  let live: LiveFlow
  const gateways: HttpGateway[] = []
  before(async () => {
    live = await startLiveFlow('embedded', [], { PROVIDER_TIMEOUT: String(TIMEOUT_MS), METRICS_PORT: '0' })
  })
  after(async () => {
    for (const gateway of gateways) {
      gateway.release()
      await gateway.close()
    }
    await live.stop()
  })

  async function open(...channels: string[]): Promise<LiveApp & { gateway: HttpGateway }> {
    const gateway = await startHttpGateway(live.vendorOptions)
    gateways.push(gateway)
    const providers = channels.map(channel => ({ name: channel, channel, type: 'http', config: { url: gateway.url } }))
    const limits = { app_without_client_ip: [{ max: 10_000, seconds: 60 }] }
    return { gateway, ...(await live.createApp(providers, { routing: { default: channels }, limits })) }
  }
  const send = async ({ server }: LiveApp): Promise<string> => (await server.send(freshNumber())).body.otp_id

  it('shows how many deliveries wait, and does not delay other apps, on its own channel or on another', async () => {
    const shop = await open('sms')
    shop.gateway.always({ fault: { kind: 'hang' } })
    await Promise.all(Array.from({ length: BACKLOG }, () => send(shop)))
    await live.eventually(() => expect(shop.gateway.messages).to.have.length(CALLS))

    const { metricsUrl, engines } = live.countersign
    await live.eventually(async () => {
      const answer = await fetch(`${metricsUrl}/backlog`)
      const { channels } = (await answer.json()) as { channels: { sms: Owed } }
      expect(channels.sms.owed, 'all but those that are being sent').to.equal(BACKLOG - CALLS)
      expect(channels.sms.oldest_seconds).to.be.at.least(1)
      expect(await (await fetch(`${metricsUrl}/metrics`)).text()).to.include(
        `countersign_deliveries_owed{channel="sms"} ${BACKLOG - CALLS}\n`,
      )
    })
    expect((await engines.broker.depth('channel.sms')).ready, 'what the process cannot hold').to.equal(IN_QUEUE)

    const startedAt = live.clock.now()
    const [neighbour, otherChannel] = [await open('sms'), await open('telegram')]
    await live.waitForDeliveries(otherChannel.server, await send(otherChannel), 'telegram sent')
    await live.waitForDeliveries(neighbour.server, await send(neighbour), 'sms sent')
    expect(shop.gateway.messages, 'calls of the hanging provider').to.have.length(CALLS)
    expect(live.clock.now() - startedAt).to.be.lessThan(TIMEOUT_MS / 2)
  })
})
