// A test of a provider: one real message with a made-up code. In: the call that the dashboard sends to the processes of
// a channel. Out: what the vendor said to the message. Messages between actors; the recipient is sealed in them, and
// the code is in neither.
import type { ChannelCallQueue } from '../../../infra/broker/topology.ts'
import { isJsonObject } from '../../../infra/json-object.ts'
import type { Channel } from '../../../machines/channels.ts'

export const channelCallQueue = (channel: Channel): ChannelCallQueue => `channel.${channel}.calls`

export interface ProviderTestCall {
  type: 'provider.test'
  app_id: string
  /** Its name. */
  provider: string
  sealed_recipient: string
}

/** False for a call of another program, or of a newer version. */
export const isProviderTestCall = (body: unknown): body is ProviderTestCall =>
  isJsonObject(body) && body.type === 'provider.test'

/** The context that the recipient is sealed in: the message cannot be copied to have another provider send it. */
export const testRecipientContext = (app_id: string, provider: string): string =>
  `provider_test:${app_id}:${provider}:recipient`

export const TEST_OUTCOMES = ['accepted', 'refused', 'no_answer'] as const

/** `no_answer`: the vendor was not reached, did not answer in time, or its answer does not say whether it took the message. */
export type TestOutcome = (typeof TEST_OUTCOMES)[number]

export interface VendorTestAnswer {
  outcome: TestOutcome
  /** Null where the vendor does not speak HTTP, and without an answer. */
  http_status: number | null
  vendor_code: string | null
  /** Without numbers and addresses. Where no vendor answered, the text is ours. */
  vendor_text: string | null
  ms: number
}

export type ProviderTestAnswer =
  | ({ kind: 'called' } & VendorTestAnswer)
  /** `no_such_provider`: it was removed meanwhile. `missing_key`: its config or the recipient cannot be unsealed in the process that took
   *  the call. `unavailable`: the store is away. `not_understood`: the process has another version. */
  | { kind: 'no_such_provider' | 'missing_key' | 'unavailable' | 'not_understood' }
