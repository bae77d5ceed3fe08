// The test of a provider: one real message with a made-up code through this provider alone, and what the vendor
// said to it. Only a process of the channel may call vendors, so the test is a call to one of them over the broker.

import { randomUUID } from 'node:crypto'
import type { Context } from 'koa'
import { z } from 'zod'
import { type Broker, CallTimeout } from '../../../infra/broker/broker.ts'
import { httpException, Problem } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Channel } from '../../../machines/channels.ts'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import { problem } from '../../domain/errors.ts'
import { errorRefusal } from '../../domain/openapi/refusals.ts'
import { type App, type Provider, providerId } from '../../domain/tenancy/documents.ts'
import {
  channelCallQueue,
  type ProviderTestAnswer,
  type ProviderTestCall,
  testRecipientContext,
} from '../../domain/tenancy/provider-test.ts'
import { isProviderType } from '../../domain/tenancy/provider-types/list.ts'
import { maskRecipient, type ParsedRecipient, parseRecipient } from '../../domain/verifications/valid-recipient.ts'
import { principalOf } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { getOr404, notFound, validationProblem } from '../request-input.ts'
import { requireOpen } from '../require-open.ts'
import { NotMade } from '../with-audit.ts'
import { type ProviderTestResult, providerTest } from './schemas.ts'
import { type ChargedTest, createChargeTest, type TestCharge } from './test-charge.ts'
import { createTestLimit } from './test-limit.ts'
import { unsealConfig } from './view.ts'

const providerTestBody = z
  .strictObject({
    recipient: z
      .string()
      .min(1)
      .max(320)
      .meta({ description: 'An E.164 phone number, or for the channel `email` an address.' }),
  })
  .meta({ id: 'ProviderTestRequest', description: 'To whom the test message goes.' })

const refusedTest: ProviderTestResult = {
  outcome: 'refused',
  http_status: 401,
  vendor_code: '20003',
  vendor_text: 'Authenticate',
  ms: 312,
}

/** For the way to the channel's process and back, and for what the process reads before its call. */
const BEYOND_VENDOR_MS = 2_000

function createPerformTest({ store, broker, keyring, clock, accounts, vendorTimeoutMs }: AdminDeps) {
  const chargeTest = createChargeTest({ store, accounts, clock })

  async function callChannel(
    ctx: Context,
    { app_id, name, channel }: Provider,
    recipient: string,
  ): Promise<ProviderTestAnswer> {
    const queue = channelCallQueue(channel)
    const body: ProviderTestCall = {
      type: 'provider.test',
      app_id,
      provider: name,
      sealed_recipient: keyring.seal(recipient, testRecipientContext(app_id, name)),
    }
    try {
      const message = { id: randomUUID(), body, trace: traceOf(ctx) }
      return (await broker.request(queue, message, vendorTimeoutMs + BEYOND_VENDOR_MS)) as ProviderTestAnswer
    } catch (error) {
      if (error instanceof CallTimeout) throw unavailable(`${channelIsLate(channel)} ${MAY_BE_SENT}`)
      if (error instanceof Unavailable) throw unavailable(`The broker is unavailable. ${MAY_BE_SENT}`)
      throw error
    }
  }

  async function charge(test: ChargedTest): Promise<TestCharge> {
    try {
      return await chargeTest(test)
    } catch (refusal) {
      throw refusal instanceof Problem ? new NotMade(refusal) : refusal
    }
  }

  /** A test to which no process of the channel answers stays charged, because the message may have been sent. One that the vendor did not
   *  accept is refunded, as every message is; a vendor that did not answer in time has not accepted it. */
  return async (
    ctx: Context,
    app: App,
    provider: Provider,
    recipient: ParsedRecipient,
  ): Promise<ProviderTestResult> => {
    const call = () => callChannel(ctx, provider, recipient.value)
    // A sandbox sends nothing.
    if (provider.type === 'sandbox') return resultOf(await call())
    const by = principalOf(ctx).name
    const charged = await charge({ app, channel: provider.channel, provider: provider.name, recipient, by })
    const answer = await call()
    if (answer.kind !== 'called') await charged.undo()
    else if (answer.outcome !== 'accepted') await charged.refund()
    return resultOf(answer)
  }
}

export const providerTestOperations = [
  operation({
    id: 'testProvider',
    request: 'POST /apps/{id}/providers/{name}/test',
    role: 'developer',
    summary: 'Test a provider with a real call',
    description:
      "Sends one real message with a made-up code through this provider alone, and answers what the vendor said. There is no verification. It costs what a message to this recipient costs, is refunded when the vendor does not accept it, and obeys the kinds of numbers, the countries and the spend caps of the app. It does not count for the circuit breaker, and is not stopped by it. A sandbox accepts everything, sends nothing and costs nothing. At most ten per minute and app, twenty per day (UTC) and company, three in ten minutes to one recipient, and two of a company at once. 503: no process of the channel runs, or it is busy and did not answer within the provider's timeout.",
    body: { schema: providerTestBody, example: { recipient: SAMPLE_NUMBER } },
    answers: [
      {
        ...ok(providerTest, 'What the vendor said.', refusedTest),
        examples: {
          refused: refusedTest,
          accepted: { outcome: 'accepted', http_status: 201, vendor_code: null, vendor_text: null, ms: 204 },
        },
      },
    ],
    refusals: [
      errorRefusal(
        'RateLimitExceededError',
        'The app, the company or the recipient has had its tests of this time, or two tests of the company are under way; `spend_cap`: the spend cap of the country is reached.',
        {
          scope: 'provider_test',
          retry_after: 42,
        },
      ),
      errorRefusal('GeoBlockedError', 'The app does not send to the country of the recipient.'),
      errorRefusal('InsufficientFundsError', 'The balance does not pay for the message.'),
      conflict(
        'The app or its company is closed, the config cannot be unsealed because its data key is no longer configured, or the release does not know the type.',
      ),
    ],
    keep: deps => ({ beginTest: createTestLimit(deps.clock), performTest: createPerformTest(deps) }),
    handle: async ({ ctx, app, params, body }, deps, { beginTest, performTest }) => {
      const { store, keyring, broker, withAudit } = deps
      const { _id: app_id, company_id } = app
      const id = providerId(app_id, params.name)
      const provider = await getOr404(ctx, store.docs('providers'), id, 'provider')
      const recipient = requireReachable(body.recipient, provider.channel)
      await requireOpen(store, app)
      if (!isProviderType(provider.type))
        throw httpException(409, 'This release does not know the type of the provider.')
      if (unsealConfig(keyring, provider) === null)
        throw httpException(409, 'Its config cannot be read: the data key that sealed it is no longer configured.')
      await requireConsumer(broker, provider.channel)
      const masked = { recipient: maskRecipient(recipient) }
      const endTest = beginTest({ app_id, company_id, recipient: recipient.value })
      try {
        return await withAudit(ctx, () => ({
          action: 'provider.test',
          target: id,
          company_id,
          before: null,
          after: masked,
          perform: () => performTest(ctx, app, provider, recipient),
          recordResult: ({ outcome, http_status, vendor_code }) => ({ ...masked, outcome, http_status, vendor_code }),
        }))
      } finally {
        endTest()
      }
    },
  }),
]

/** Without a consumer the answer is known before the time is over. */
async function requireConsumer(broker: Pick<Broker, 'depth'>, channel: Channel): Promise<void> {
  const depth = await broker.depth(channelCallQueue(channel)).catch(error => {
    throw error instanceof Unavailable ? unavailable('The broker is unavailable. Nothing was sent.') : error
  })
  if (depth.consumers === 0)
    throw unavailable(`No process of the channel ${channel} answers: ${checkRole(channel)} Nothing was sent.`)
}

function requireReachable(text: string, channel: Channel): ParsedRecipient {
  const parsed = parseRecipient(text.trim())
  const wanted = channel === 'email' ? 'email' : 'phone'
  if (parsed?.kind === wanted) return parsed
  const message =
    wanted === 'email'
      ? 'must be an email address: this provider sends mail'
      : `must be a valid phone number with its country code, such as "${SAMPLE_NUMBER}"`
  throw validationProblem([{ path: 'recipient', message }])
}

/** Throws NotMade where the process of the channel says that it sent nothing. */
function resultOf(answer: ProviderTestAnswer): ProviderTestResult {
  switch (answer.kind) {
    case 'called': {
      const { kind: _, ...result } = answer
      return result
    }
    case 'no_such_provider':
      throw new NotMade(notFound('provider'))
    case 'missing_key':
      throw new NotMade(
        unavailable('The process of the channel lacks a data key that this process has. Nothing was sent.'),
      )
    case 'unavailable':
      throw new NotMade(unavailable('The store is unavailable. Nothing was sent.'))
    case 'not_understood':
      throw new NotMade(
        unavailable('The process of the channel has another version, which cannot test. Nothing was sent.'),
      )
  }
}

const unavailable = (detail: string) => problem('ServiceUnavailableError', { detail })

const checkRole = (channel: Channel): string => `check that the role channel:${channel} is running.`

const channelIsLate = (channel: Channel): string =>
  `No process of the channel ${channel} answered in time. It may be busy; if it stays so, ${checkRole(channel)}`

const MAY_BE_SENT = 'The message may still be sent.'
