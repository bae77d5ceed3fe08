// One Countersign per engine set, shared by every flow suite, since starting one on real engines takes seconds. Tests keep apart by
// having apps, keys and recipients of their own.
import { type Flow, startFlow } from './flow.ts'
import { type EngineSet, onEachEngineSet } from './site.ts'

const shared = new Map<EngineSet, Promise<Flow>>()
/** Suites still to come. */
const suitesLeft: Record<EngineSet, number> = { embedded: 0, real: 0 }

/** Runs a suite on every engine set this run has, on the one Countersign all flow suites share there. */
export const eachFlow = (title: string, suite: (flow: Flow, engines: EngineSet) => void): void =>
  onEachEngineSet(title, engines => {
    const flow = {} as Flow
    suitesLeft[engines] += 1
    before(async function () {
      this.timeout(120_000)
      if (!shared.has(engines)) shared.set(engines, startFlow({ engines, bootstrap: BOOTSTRAP }))
      Object.assign(flow, await shared.get(engines))
    })
    after(async function () {
      this.timeout(60_000)
      suitesLeft[engines] -= 1
      if (suitesLeft[engines] === 0) await stop(engines)
    })
    suite(flow, engines)
  })

async function stop(engines: EngineSet): Promise<void> {
  const flow = await shared.get(engines)
  shared.delete(engines)
  await flow?.stop()
}

// Suites that were not chosen are waited for in vain.
after(async function () {
  this.timeout(60_000)
  for (const engines of shared.keys()) await stop(engines)
})

/** Documentation addresses count as reserved, so these lists are of real ones. */
export const ABUSIVE = '45.95.147.7'
export const VPN = '185.220.101.9'
/** An app that sends in live mode as well: the sandbox is its provider. */
export const FLOW_APP_KEYS = {
  server: 'sk_live_flow0123456789',
  tester: 'sk_test_flow0123456789',
}
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_flow',
      name: 'Flow',
      apps: [
        {
          id: 'app_flow',
          name: 'Flow',
          settings: { limits: { recipient: [{ max: 2, seconds: 600 }] } },
          keys: Object.entries(FLOW_APP_KEYS).map(([name, key]) => ({ id: `key_${name}`, key })),
          providers: [{ name: 'inbox', channel: 'sms', type: 'sandbox', config: {} }],
        },
      ],
    },
  ],
  ip_lists: [
    { class: 'abusive', cidr: '45.95.147.0/24' },
    { class: 'vpn', cidr: '185.220.101.0/24' },
  ],
}
