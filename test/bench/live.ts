// Live sends: a vendor and the app's backend on loopback (outside.process.ts), a price and a balance.
import { addressOf, launchProcess } from './launch.ts'
import { type Countersign, KEY, NO_LIMIT, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'

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
            // No code expires while a bench runs.
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

interface Live extends Countersign {
  countFinished(): Promise<number>
}

export async function startLive(): Promise<Live> {
  const outside = launchProcess('outside.process', { VENDOR_SECRET: SECRET })
  const stopOutside = async (): Promise<void> => {
    outside.process.kill()
    await outside.exited
  }
  try {
    const url = await addressOf(outside)
    const countersign = await startCountersign('real', ONE_PROCESS_PER_ROLE, {
      bootstrap: liveBootstrap(url),
      settings: LIVE_SETTINGS,
    })
    await fetch(`${url}/receipts`, { method: 'PUT', body: `${countersign.url}/callbacks/app_bench/vendor` })
    return {
      ...countersign,
      countFinished: async () => Number(await (await fetch(`${url}/events`)).text()),
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
