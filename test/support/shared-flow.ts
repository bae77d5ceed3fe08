// One Countersign per engine set, shared by every suite of `describeFlow`, because a start on the real engines takes seconds.
// Tests do not meet each other: each creates its own apps, keys and recipients.
import { type Flow, startFlow } from './flow.ts'
import { type EngineSet, onEachEngineSet } from './site.ts'

const shared = new Map<EngineSet, Promise<Flow>>()
/** How many suites have not finished; the last one stops its Countersign. */
const suitesLeft: Record<EngineSet, number> = { embedded: 0, real: 0 }

/** Runs a suite on every engine set of this run, on the Countersign that all such suites share there. */
export const describeFlow = (title: string, suite: (flow: Flow, engines: EngineSet) => void): void =>
  onEachEngineSet(title, engines => {
    const flow = {} as Flow
    suitesLeft[engines] += 1
    before(async () => {
      if (!shared.has(engines)) shared.set(engines, startFlow({ engines, bootstrap: BOOTSTRAP }))
      Object.assign(flow, await shared.get(engines))
    })
    after(async () => {
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

// `--grep` skips suites, and a skipped suite never counts `suitesLeft` down.
after(async () => {
  for (const engines of shared.keys()) await stop(engines)
})

/** In the lists of BOOTSTRAP below. These are public addresses, because the product ignores documentation ranges as reserved. */
export const ABUSIVE_IP = '45.95.147.7'
export const VPN_IP = '185.220.101.9'

/** Server keys of an app that can also send in live mode, because the sandbox is its live provider. */
export const FLOW_APP_KEYS = {
  live: 'sk_live_flow0123456789',
  test: 'sk_test_flow0123456789',
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
