// What tests of providers need: a rendered message, the provider's dependencies, and a vendor's callback as our router passes it on.
import { Buffer } from 'node:buffer'
import { createOutbound } from '../../../infra/outbound/guarded-outbound.ts'
import type { Outbound } from '../../../infra/outbound/outbound.ts'
import type { Callback, Provider, ProviderDeps, RenderedMessage } from '../../../services/channel/provider.ts'
import { type TestClock, testClock } from '../clock.ts'
import { issued, type StartOptions } from '../otp.ts'
import type { Vendor, VendorCallback } from './vendor.ts'

export const RECIPIENT = '+447700900123'
export const CODE = '739164'
export const DELIVERY_ID = 'dlv_01jgfj1z000000000000000000'
export const CALLBACK_URL = 'https://verify.example/callbacks/app_shop/gateway'

export interface TestProviderDeps extends ProviderDeps {
  outbound: Outbound
  clock: TestClock
}

export const testProviderDeps = (more: Partial<ProviderDeps> = {}): TestProviderDeps => ({
  callbackUrl: CALLBACK_URL,
  outbound: createOutbound({ privateTargets: ['127.0.0.0/8'] }),
  ...more,
  clock: testClock(),
})

/** For one suite: a simulated vendor, and providers that call it. `more` replaces members of the config, `over` dependencies. */
export function withVendor<V extends Pick<Vendor<unknown>, 'close'>, C extends object>(
  factory: (setup: { config: C; channel: 'sms' }, deps: ProviderDeps) => Provider,
  start: (deps: TestProviderDeps) => Promise<V>,
  configFor: (api: V) => C,
) {
  let api: V
  let deps: TestProviderDeps
  before(async () => {
    deps = testProviderDeps()
    api = await start(deps)
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })
  return {
    vendor: () => api,
    deps: () => deps,
    create: (more: Partial<C> = {}, over: Partial<ProviderDeps> = {}): Provider =>
      factory({ config: { ...configFor(api), ...more }, channel: 'sms' }, { ...deps, ...over }),
  }
}

/** A code by SMS for a British number; `more` and `options` replace parts of it. */
export function renderedMessage(more: Partial<RenderedMessage> = {}, options: StartOptions = {}): RenderedMessage {
  const { context: otp } = issued(options)
  return {
    recipient: RECIPIENT,
    code: CODE,
    text: `Shop: your code is ${CODE}.`,
    subject: null,
    html: null,
    locale: 'en',
    requested_locale: otp.locale,
    delivery_id: DELIVERY_ID,
    expires_at: otp.expires_at,
    ...more,
  }
}

export const send = (provider: Provider, message = renderedMessage(), signal = new AbortController().signal) =>
  provider.send(message, signal)

/** The error that sending throws; fails when it does not throw. */
export async function thrownBy(sending: Promise<unknown>): Promise<Error> {
  const outcome: unknown = await sending.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(outcome instanceof Error)) throw new Error('the message was accepted')
  return outcome
}

export const callbackOf = ({ method, url, headers, body }: VendorCallback): Callback => ({
  method,
  url: new URL(url),
  headers,
  body: Buffer.from(body),
})
