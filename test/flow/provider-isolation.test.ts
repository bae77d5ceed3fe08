// On embedded engines only: where time stands still it can be told who waits for whom.
import { expect } from 'chai'
import { freshNumber } from '../support/flow.ts'
import { type LiveApp, type LiveFlow, startLiveFlow } from '../support/live-flow.ts'
import { type HttpGateway, startHttpGateway } from '../support/vendors/http-gateway.ts'

/** Longer than anything here takes. */
const TIMEOUT_MS = 600_000
/** More than a channel has in hand at once. */
const BACKLOG = 600

describe('a provider that hangs', () => {
  let live: LiveFlow
  const opened: HttpGateway[] = []
  before(async () => {
    live = await startLiveFlow('embedded', [], { PROVIDER_TIMEOUT: String(TIMEOUT_MS) })
  })
  after(async () => {
    for (const gateway of opened) {
      gateway.release()
      await gateway.close()
    }
    await live.stop()
  })

  async function open(...channels: string[]): Promise<LiveApp & { gateway: HttpGateway }> {
    const gateway = await startHttpGateway(live.vendorOptions)
    opened.push(gateway)
    const providers = channels.map(channel => ({ name: channel, channel, type: 'http', config: { url: gateway.url } }))
    const limits = { app_without_client_ip: [{ max: 10_000, seconds: 60 }] }
    return { gateway, ...(await live.createApp(providers, { routing: { default: channels }, limits })) }
  }
  const send = async ({ server }: LiveApp): Promise<string> => (await server.send(freshNumber())).body.otp_id

  it('keeps no other app waiting, on its channel or any other', async () => {
    const shop = await open('sms')
    shop.gateway.always({ fault: { kind: 'hang' } })
    await Promise.all(Array.from({ length: BACKLOG }, () => send(shop)))
    await live.eventually(() => expect(shop.gateway.messages).to.have.length(64))

    const begun = live.clock.now()
    const [neighbour, elsewhere] = [await open('sms'), await open('telegram')]
    await live.waitForDeliveries(elsewhere.server, await send(elsewhere), 'telegram sent')
    await live.waitForDeliveries(neighbour.server, await send(neighbour), 'sms sent')
    expect(shop.gateway.messages, 'no call of the other app is over').to.have.length(64)
    expect(live.clock.now() - begun).to.be.lessThan(TIMEOUT_MS / 2)
  })
})
