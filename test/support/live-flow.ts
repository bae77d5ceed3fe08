// A flow whose apps send in live mode through simulated vendors. In: engines, roles and settings. Out: a flow that also creates such
// apps and reads their deliveries. Messages leave over HTTP and SMTP, and vendors call back over HTTP, all on loopback.
import { createKeyring } from '../../infra/crypto/keyring.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { Answer, Caller } from './api-caller.ts'
import type { StartOptions } from './countersign.ts'
import { type Flow, startFlow } from './flow.ts'
import { type EngineSet, type Env, onEachEngineSet } from './site.ts'

/** The base of the callback URLs that vendors are given. No server answers there: `vendorOptions.route` replaces it. */
export const PUBLIC_URL = 'https://otp.example'

export interface LiveApp {
  app: string
  /** Calls with a server key of live mode. */
  server: Caller
}

export interface LiveFlow extends Flow {
  /** The id of the app that is created next: some vendors must know the callback URL before the app exists. */
  nextAppId(): string
  /** Creates an app in a company of its own; `providers` are written as in a bootstrap file. */
  createApp(providers: readonly object[], settings?: object): Promise<LiveApp>
  /** Options of every simulated vendor: where its callbacks really go, and the time that it signs. */
  vendorOptions: { route(url: string): string; now(): number }
  /** Channel and status of each delivery of a verification, for example "sms delivered", oldest first. */
  deliveries(by: Caller, otp_id: string): Promise<string[]>
  /** Waits until the deliveries of a verification are exactly these. */
  waitForDeliveries(by: Caller, otp_id: string, ...statuses: string[]): Promise<unknown>
  /** The types of an app's `delivery.*` events. */
  deliveryEvents(app: string): Promise<string[]>
}

/** Tests on the real engines wait for both times, so they are short; a loaded machine still meets them. */
const PROVIDER_TIMEOUT_MS = 2_000
const UNKNOWN_WAIT_MS = 3_000

/** The settings of every process of a live flow. */
export const LIVE_ENV = {
  PUBLIC_URL,
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  CHANNEL_BACKOFF: '200,400',
  PROVIDER_TIMEOUT: String(PROVIDER_TIMEOUT_MS),
  UNKNOWN_WAIT: String(UNKNOWN_WAIT_MS),
}

let apps = 0

export async function startLiveFlow(
  engines: EngineSet,
  roles: string[] = [],
  env: Env = {},
  more: Pick<StartOptions, 'outbound'> = {},
): Promise<LiveFlow> {
  const flow = await startFlow({ engines, env: { ...LIVE_ENV, ...env }, roles, ...more })
  const { countersign, clock } = flow
  const { data, code } = countersign.secrets
  const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
  const { store } = countersign.engines

  const additions: Omit<LiveFlow, keyof Flow> = {
    vendorOptions: { route: url => url.replace(PUBLIC_URL, countersign.url), now: clock.now },
    nextAppId: () => `app_live${apps + 1}`,
    async createApp(providers, settings = {}) {
      apps += 1
      const [id, key] = [`app_live${apps}`, `sk_live_0123456789abcdef${apps}`]
      const app = { id, name: 'Shop', settings, providers, keys: [{ id: `key_live${apps}`, key }] }
      const companies = [{ id: `cmp_live${apps}`, name: 'Acme', apps: [app] }]
      await applyBootstrap(readBootstrap(JSON.stringify({ companies })), { store, keyring, clock })
      return { app: id, server: flow.caller(key) }
    },
    deliveries: async (by, otp_id) => deliveriesIn(await by.status(otp_id)),
    waitForDeliveries: (by, otp_id, ...expected) =>
      flow.eventually(async () => {
        const actual = deliveriesIn(await by.status(otp_id))
        if (actual.join() !== expected.join()) throw new Error(`deliveries are ${actual}, not ${expected}`)
      }),
    deliveryEvents: async app =>
      (await flow.events(app)).map(({ type }) => type).filter(type => type.startsWith('delivery.')),
  }
  return Object.assign(flow, additions)
}

const deliveriesIn = ({ body, text }: Answer): string[] => {
  if (!body.deliveries) throw new Error(text)
  return body.deliveries.map(({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`)
}

/** For what the engines decide: redelivery, races, money. Runs a suite on every engine set of this run, on a Countersign that only this suite
 *  uses. */
export const describeLiveFlow = (title: string, suite: (live: LiveFlow, engines: EngineSet) => void): void =>
  onEachEngineSet(title, engines => onLiveFlow(engines, suite))

/** For everything else, such as what vendors are sent: test/contract shows that the engines agree. `openOutbound` replaces the HTTP client. */
export const describeLiveFlowOnce = (
  title: string,
  suite: (live: LiveFlow) => void,
  openOutbound?: () => Outbound,
): void => void describe(title, () => onLiveFlow('embedded', suite, openOutbound))

function onLiveFlow(
  engines: EngineSet,
  suite: (live: LiveFlow, engines: EngineSet) => void,
  openOutbound?: () => Outbound,
): void {
  const live = {} as LiveFlow
  before(async () => {
    const more = openOutbound === undefined ? {} : { outbound: openOutbound() }
    Object.assign(live, await startLiveFlow(engines, [], {}, more))
  })
  after(async () => {
    await live.stop?.()
  })
  suite(live, engines)
}

/** The code in a message as a vendor received it. */
export const codeIn = (message: unknown): string => {
  const [code] = /(?<![\d+])\d{6,8}(?!\d)/.exec(JSON.stringify(message)) ?? []
  if (code === undefined) throw new Error(`no code in ${JSON.stringify(message)}`)
  return code
}
