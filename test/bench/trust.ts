// What trust costs: live sends that are paid for, counted against every limit and held against lists of addresses, and the same sends
// with nothing to pay, no limit and no list.
import { build } from './build.ts'
import { type Contest, runContest } from './contest.ts'
import { sends } from './send.ts'
import { KEY, NO_LIMIT, ONE_PROCESS_PER_ROLE, startCountersign } from './systems.ts'
import { needsRealEngines, ROUNDS, useAndClose } from './under-load.ts'

const LIMITS_OFF = {
  recipient: [],
  recipient_messages: [],
  client_ip: [],
  app: [],
  app_without_client_ip: [],
  recipient_verify: [],
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

const nothing = async (): Promise<void> => {}
const startWithoutChecks = () =>
  startCountersign(
    'real',
    ONE_PROCESS_PER_ROLE,
    nothing,
    bootstrapWith({ limits: LIMITS_OFF, fraud_guard: { mode: 'off' } }, {}),
  )
const startWithChecks = () =>
  startCountersign(
    ...(['real', ONE_PROCESS_PER_ROLE, nothing] as const),
    // Nobody verifies these numbers, one after the other: switched on, the fraud guard would refuse them. It records as many as it keeps.
    bootstrapWith(
      { limits: LIMITS_ON, fraud_guard: { mode: 'record' } },
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
  await useAndClose([startWithChecks(), startWithoutChecks()], async ([product, yardstick]) => {
    const both: Contest = {
      what: 'live sends with client_ip and idempotency-key, 64 connections',
      rounds: ROUNDS,
      aims: { leastShare: 0.7, mostTimesP99: 3 },
      yardstick: { name: 'money, limits and reputation off', round: () => sends(yardstick, shape) },
      product: { name: 'all of them on', round: () => sends(product, shape) },
    }
    await runContest(both)
  })
}
