// Apps whose providers are simulated vendors, on a Countersign of their own: what live keys send goes out over HTTP and SMTP, and
// vendors call back over HTTP, all on loopback.
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { Answer, Caller } from './api-caller.ts'
import { type Flow, startFlow } from './flow.ts'
import { type EngineSet, type Env, onEachEngineSet } from './site.ts'

/** Where vendors are told to call; nobody is there, so their calls are routed to wherever Countersign listens. */
export const PUBLIC_URL = 'https://otp.example'

export interface LiveApp {
  app: string
  /** With a live key. */
  server: Caller
}

export interface LiveFlow extends Flow {
  /** The id of the next app: some vendors must know where to call before there is one. */
  nextApp(): string
  /** An app of its own; `providers` as in a bootstrap file. */
  app(providers: readonly object[], settings?: object): Promise<LiveApp>
  /** For a vendor's options: how its calls reach us, what time it signs, and what a provider of a name is called back at. */
  vendor: { route(url: string): string; now(): number }
  /** What has become of a verification's deliveries, in order. */
  deliveries(by: Caller, otp_id: string): Promise<string[]>
  /** Waits until they are so. */
  waitForDeliveries(by: Caller, otp_id: string, ...statuses: string[]): Promise<unknown>
  /** Of the delivery events of an app. */
  deliveryEvents(app: string): Promise<string[]>
}

/** Short enough to be waited for on real engines, long enough for a loaded machine. */
export const TIMEOUT_MS = 2_000
export const UNKNOWN_WAIT_MS = 3_000

/** Of every process there. */
export const LIVE_ENV = {
  PUBLIC_URL,
  ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  CHANNEL_BACKOFF: '200,400',
  PROVIDER_TIMEOUT: String(TIMEOUT_MS),
  UNKNOWN_WAIT: String(UNKNOWN_WAIT_MS),
}

let apps = 0

export async function openLiveFlow(engines: EngineSet, roles: string[] = [], env: Env = {}): Promise<LiveFlow> {
  const flow = await startFlow({ engines, env: { ...LIVE_ENV, ...env }, roles })
  const { countersign, clock } = flow
  const { data, code } = countersign.secrets
  const keyring = createKeyring({ dataKeys: data, codeSecrets: code })
  const { store } = countersign.engines

  return Object.assign(flow, {
    vendor: { route: (url: string) => url.replace(PUBLIC_URL, countersign.url), now: clock.now },
    nextApp: () => `app_live${apps + 1}`,
    async app(providers: readonly object[], settings: object = {}) {
      apps += 1
      const [id, key] = [`app_live${apps}`, `sk_live_0123456789abcdef${apps}`]
      const file = { id, name: 'Shop', settings, providers, keys: [{ id: `key_live${apps}`, key }] }
      const companies = [{ id: `cmp_live${apps}`, name: 'Acme', apps: [file] }]
      await applyBootstrap(readBootstrap(JSON.stringify({ companies })), { store, keyring, clock })
      return { app: id, server: flow.caller(key) }
    },
    deliveries: async (by: Caller, otp_id: string) => statusesOf(await by.status(otp_id)),
    waitForDeliveries: (by: Caller, otp_id: string, ...statuses: string[]) =>
      flow.eventually(async () => {
        const now = statusesOf(await by.status(otp_id))
        if (JSON.stringify(now) !== JSON.stringify(statuses)) throw new Error(`deliveries are ${now}, not ${statuses}`)
      }),
    deliveryEvents: async (app: string) =>
      (await flow.events(app)).map(({ type }) => type).filter(type => type.startsWith('delivery.')),
  })
}

const statusesOf = ({ body, text }: Answer): string[] => {
  if (!body.deliveries) throw new Error(text)
  return body.deliveries.map(({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`)
}

/** Runs a suite on every engine set this run has, each on a Countersign of its own. */
export const eachLiveFlow = (title: string, suite: (live: LiveFlow, engines: EngineSet) => void): void =>
  onEachEngineSet(title, engines => {
    const live = {} as LiveFlow
    before(async function () {
      this.timeout(120_000)
      Object.assign(live, await openLiveFlow(engines))
    })
    after(async function () {
      this.timeout(60_000)
      await live.stop?.()
    })
    suite(live, engines)
  })

/** The code in whatever a vendor was given. */
export const codeIn = (message: unknown): string => {
  const [code] = /(?<![\d+])\d{6}(?!\d)/.exec(JSON.stringify(message)) ?? []
  if (code === undefined) throw new Error(`no code in ${JSON.stringify(message)}`)
  return code
}
