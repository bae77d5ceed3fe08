// What a provider is tried with: a rendered message, the tools it is made with, and its vendor's callback as our router reads it.
import { Buffer } from 'node:buffer'
import { createOutbound } from '../../../infra/outbound/guarded-outbound.ts'
import type { Outbound } from '../../../infra/outbound/outbound.ts'
import type { Callback, Provider, ProviderDeps, RenderedMessage } from '../../../services/channel/provider.ts'
import { type TestClock, testClock } from '../clock.ts'
import { issued, type StartOptions } from '../otp.ts'
import type { VendorCallback } from './vendor.ts'

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

/** A British number's code by SMS; say what is to differ. */
export function renderedMessage(more: Partial<RenderedMessage> = {}, options: StartOptions = {}): RenderedMessage {
  const { context: otp } = issued({ delivery_id: DELIVERY_ID, ...options })
  const [delivery] = otp.deliveries
  if (!delivery) throw new Error('nothing is being delivered')
  return {
    recipient: RECIPIENT,
    code: CODE,
    text: `Shop: your code is ${CODE}.`,
    subject: null,
    html: null,
    locale: 'en',
    job: { otp, delivery, purge_at: new Date(otp.expires_at) },
    ...more,
  }
}

export const send = (provider: Provider, message = renderedMessage(), signal = new AbortController().signal) =>
  provider.send(message, signal)

/** What sending threw. */
export async function thrownBy(sending: Promise<unknown>): Promise<Error> {
  const outcome: unknown = await sending.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(outcome instanceof Error)) throw new Error('it was taken')
  return outcome
}

export const callbackOf = ({ method, url, headers, body }: VendorCallback): Callback => ({
  method,
  url: new URL(url),
  headers,
  body: Buffer.from(body),
})
