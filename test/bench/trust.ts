// What trust costs: live sends that are paid for, counted against every limit and held against lists of addresses, and the same sends
// with nothing to pay, no limit and no list.
import { build } from './built.ts'
import { type Contest, contest } from './rounds.ts'
import { sends } from './send.ts'
import { countersign, KEY, ONE_PROCESS_PER_ROLE, WITHOUT_END } from './systems.ts'
import { closing, needsRealEngines, ROUNDS } from './under-load.ts'

const OFF = {
  ...{ recipient: [], recipient_messages: [], client_ip: [] },
  ...{ app: [], app_without_client_ip: [], recipient_verify: [] },
}
const ON = { app: WITHOUT_END, app_without_client_ip: WITHOUT_END }

const world = (settings: object, more: object) => ({
  ...more,
  companies: [
    {
      ...{ id: 'cmp_bench', balance: 1_000_000_000_000 },
      apps: [
        {
          ...{ id: 'app_bench', settings },
          keys: [{ id: 'key_bench', kind: 'server', mode: 'live', key: KEY }],
          providers: [{ name: 'box', channel: 'sms', type: 'sandbox', config: {} }],
        },
      ],
    },
  ],
})

const nothing = async (): Promise<void> => {}
const trusting = () =>
  countersign('real', ONE_PROCESS_PER_ROLE, nothing, world({ limits: OFF, fraud_guard: { mode: 'off' } }, {}))
const careful = () =>
  countersign(
    ...(['real', ONE_PROCESS_PER_ROLE, nothing] as const),
    // Nobody verifies these numbers, one after the other: switched on, the fraud guard would refuse them. It records as many as it keeps.
    world(
      { limits: ON, fraud_guard: { mode: 'record' } },
      {
        prices: [{ channel: 'sms', country: '*', micros: 40_000 }],
        ip_lists: [
          { class: 'abusive', cidr: '45.95.147.0/24' },
          { class: 'vpn', cidr: '2001:db8::/32' },
        ],
      },
    ),
  )

export default async function trust(): Promise<void> {
  if (!needsRealEngines('trust')) return
  await build()
  const shape = { connections: 64, full: true }
  await closing([careful(), trusting()], async ([product, yardstick]) => {
    const both: Contest = {
      what: 'live sends with client_ip and idempotency-key, 64 connections',
      rounds: ROUNDS,
      aims: { leastShare: 0.7, mostTimesP99: 3 },
      yardstick: { name: 'money, limits and reputation off', round: () => sends(yardstick, shape) },
      product: { name: 'all of them on', round: () => sends(product, shape) },
    }
    await contest(both)
  })
}
