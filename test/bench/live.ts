// Live sends: a vendor and the app's backend on loopback (outside.process.ts), a price and a balance.
import type { EngineSet } from '../support/site.ts'
import { addressOf, launchProcess } from './launch.ts'
import { type Countersign, KEY, type Layout, NO_LIMIT, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'

const SECRET = 'a-secret-of-the-vendor'
const BODY = { recipient: '{{recipient}}', text: '{{text}}', code: '{{code}}', delivery_id: '{{delivery_id}}' }

export const LIVE_SETTINGS = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }

/** An app with a price, a balance, a provider and an endpoint; both are at `outside`. */
export const liveBootstrap = (outside: string) => ({
  prices: [{ channel: 'sms', country: '*', micros: 40_000 }],
  companies: [
    {
      id: 'cmp_bench',
      balance: 1_000_000_000_000,
      apps: [
        {
          id: 'app_bench',
          keys: [{ id: 'key_bench', kind: 'server', mode: 'live', key: KEY }],
          // No number is ever verified here, so an active fraud guard would refuse the sends. In this mode it records its decisions only.
          settings: {
            limits: { app: NO_LIMIT, app_without_client_ip: NO_LIMIT },
            fraud_guard: { mode: 'record' },
            // On a busy machine, the first code is entered long after it was sent.
            code: { ttl_seconds: 3_600 },
          },
          providers: [
            {
              name: 'vendor',
              channel: 'sms',
              type: 'http',
              config: { url: `${outside}/messages`, secret: SECRET, body: BODY },
            },
          ],
          webhook: { url: `${outside}/events` },
        },
      ],
    },
  ],
})

export interface Live extends Countersign {
  countFinished(): Promise<number>
  /** The codes that the vendor has delivered since they were last asked for, by recipient. */
  codes(): Promise<Record<string, string>>
}

export async function startLive(engines: EngineSet = 'real', layout: Layout = ONE_PROCESS_PER_ROLE): Promise<Live> {
  const outside = launchProcess('outside.process', { VENDOR_SECRET: SECRET })
  const stopOutside = async (): Promise<void> => {
    outside.process.kill()
    await outside.exited
  }
  try {
    const url = await addressOf(outside)
    const countersign = await startCountersign(engines, layout, {
      bootstrap: liveBootstrap(url),
      settings: LIVE_SETTINGS,
    })
    await fetch(`${url}/receipts`, { method: 'PUT', body: `${countersign.url}/callbacks/app_bench/vendor` })
    return {
      ...countersign,
      countFinished: async () => Number(await (await fetch(`${url}/events`)).text()),
      codes: async () => (await fetch(`${url}/codes`)).json() as Promise<Record<string, string>>,
      async stop() {
        await countersign.stop()
        await stopOutside()
      },
    }
  } catch (error) {
    await stopOutside()
    throw error
  }
}
