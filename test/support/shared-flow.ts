// One Countersign per engine set, shared by every suite of `describeFlow` and `describeFlowOnce`, because a start on the real engines takes seconds.
// Tests do not meet each other: each creates its own apps, keys and recipients.
import { type Flow, startFlow } from './flow.ts'
import { type EngineSet, onEachEngineSet } from './site.ts'

const shared = new Map<EngineSet, Promise<Flow>>()
/** How many suites have not finished; the last one stops its Countersign. */
const suitesLeft: Record<EngineSet, number> = { embedded: 0, real: 0 }

/** For what the engines decide: races, redelivery, waiting, limits, money. Runs a suite on every engine set of this run, on the Countersign
 *  that all such suites share there. */
export const describeFlow = (title: string, suite: (flow: Flow, engines: EngineSet) => void): void =>
  onEachEngineSet(title, engines => onSharedFlow(engines, suite))

/** For everything else: test/contract shows that the engines agree. */
export const describeFlowOnce = (title: string, suite: (flow: Flow) => void): void =>
  void describe(title, () => onSharedFlow('embedded', suite))

function onSharedFlow(engines: EngineSet, suite: (flow: Flow, engines: EngineSet) => void): void {
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
}

async function stop(engines: EngineSet): Promise<void> {
  const flow = await shared.get(engines)
  shared.delete(engines)
  await flow?.stop()
}

// `--grep` skips suites, and a skipped suite never counts `suitesLeft` down.
after(async () => {
  for (const engines of shared.keys()) await stop(engines)
})

/** In the list of BOOTSTRAP below. It is a public address, because the product ignores documentation ranges as reserved. */
export const ABUSIVE_IP = '45.95.147.7'

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
  ip_lists: [{ class: 'abusive', cidr: '45.95.147.0/24' }],
}
