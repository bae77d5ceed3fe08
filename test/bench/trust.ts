// What the checks of a send cost: live sends with prices, limits and address lists, compared with the same sends without them.
import { type Comparison, runComparison } from './comparison.ts'
import { sends } from './send.ts'
import { KEY, NO_LIMIT, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'
import { needsRealEngines, ROUNDS, useAndClose } from './under-load.ts'

/** Wrong codes must be limited, which a send does not notice. */
const LIMITS_OFF = {
  recipient: [],
  recipient_messages: [],
  client_ip: [],
  app: [],
  app_publishable: [],
  app_without_client_ip: [],
}
const LIMITS_ON = { app: NO_LIMIT, app_without_client_ip: NO_LIMIT }

const bootstrapWith = (settings: object, more: object) => ({
  ...more,
  companies: [
    {
      id: 'cmp_bench',
      balance: 1_000_000_000_000,
      apps: [
        {
          id: 'app_bench',
          settings,
          keys: [{ id: 'key_bench', kind: 'server', mode: 'live', key: KEY }],
          providers: [{ name: 'box', channel: 'sms', type: 'sandbox', config: {} }],
        },
      ],
    },
  ],
})

const startWithoutChecks = () =>
  startCountersign('real', ONE_PROCESS_PER_ROLE, {
    bootstrap: bootstrapWith({ limits: LIMITS_OFF, fraud_guard: { mode: 'off' } }, {}),
  })
const startWithChecks = () =>
  startCountersign('real', ONE_PROCESS_PER_ROLE, {
    // No number is ever verified here, so an active fraud guard would refuse the sends. In this mode it records its decisions only.
    bootstrap: bootstrapWith(
      { limits: LIMITS_ON, fraud_guard: { mode: 'record' } },
      {
        prices: [{ channel: 'sms', country: '*', micros: 40_000 }],
        ip_lists: [
          { class: 'abusive', cidr: '45.95.147.0/24' },
          { class: 'vpn', cidr: '2001:db8::/32' },
        ],
      },
    ),
  })

export default async function trust(): Promise<void> {
  if (!needsRealEngines('trust')) return
  const shape = { connections: 64, full: true }
  await useAndClose([startWithChecks(), startWithoutChecks()], async ([product, baseline]) => {
    const both: Comparison = {
      what: 'live sends with client_ip and idempotency-key, 64 connections',
      rounds: ROUNDS,
      aims: { minRatio: 0.7, maxP99Ratio: 3 },
      baseline: { name: 'money, limits and reputation off', round: () => sends(baseline, shape) },
      product: { name: 'all of them on', round: () => sends(product, shape) },
    }
    await runComparison(both)
  })
}
