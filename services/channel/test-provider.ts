// Tests a provider with a real call. In: a call of the dashboard, with an app's provider and a sealed recipient. Out:
// what the vendor said to one message with a made-up code.
//
// The provider is built for this one call, from its setup as it is stored now: a config that was changed a moment ago
// is tested as it is, and a breaker that is open does not prevent the test. Nothing else is touched: no verification,
// no attempt. The dashboard has charged it. The call does not count for the breaker, so that tests can neither open it
// nor close it. A receipt for the message finds no delivery and is ignored.
import { randomInt } from 'node:crypto'
import type { ReceivedCall } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { createMissingKeyReporter, isMissingKeyError } from '../../infra/crypto/missing-key-reporter.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import { SECOND_MS } from '../../infra/time.ts'
import { requestOf } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Channel } from '../../machines/channels.ts'
import { chooseLocale } from '../../machines/locale.ts'
import { MAX_TELEGRAM_DIGITS } from '../../machines/routing.ts'
import type { SecretPattern } from '../domain/privacy/answer-scrub.ts'
import {
  isProviderTestCall,
  type ProviderTestAnswer,
  type ProviderTestCall,
  type TestOutcome,
  testRecipientContext,
} from '../domain/tenancy/provider-test.ts'
import type { Tenancy, TenantApp } from '../domain/tenancy/tenancy.ts'
import { endingOf, LANGUAGES, minutesInText, renderMessage } from '../domain/texts/message-text.ts'
import { ownTextFor } from '../domain/texts/own-texts.ts'
import { callDetails, callWithTimeout, type ProviderOutcome } from './call-provider.ts'
import type { RenderedMessage } from './provider.ts'
import type { BuildProvider } from './providers/factories.ts'

export interface TestProviderDeps {
  channel: Channel
  tenancy: Pick<Tenancy, 'app' | 'providersOf'>
  buildProvider: BuildProvider
  keyring: Pick<Keyring, 'unseal'>
  clock: Clock
  log: Logger
  timeoutMs: number
}

export type TestProvider = (call: ReceivedCall) => Promise<ProviderTestAnswer>

/** The sandbox has no vendor that could refuse, and no verification whose message it could show. */
const SANDBOX_ANSWER: ProviderTestAnswer = {
  kind: 'called',
  outcome: 'accepted',
  http_status: null,
  vendor_code: null,
  vendor_text: null,
  ms: 0,
}

export function createTestProvider(deps: TestProviderDeps): TestProvider {
  const { channel, tenancy, buildProvider, keyring, clock, log, timeoutMs } = deps
  const reportMissingKey = createMissingKeyReporter({ log, clock })

  async function test({ app_id, provider: name, sealed_recipient }: ProviderTestCall, call: ReceivedCall) {
    const [app, { providers, unreadable }] = await Promise.all([
      tenancy.app(app_id),
      tenancy.providersOf(app_id, channel),
    ])
    const missing = unreadable.find(one => one.name === name)
    if (missing) throw missing.problem
    const setup = providers.find(one => one.name === name)
    if (!app || !setup) return { kind: 'no_such_provider' } as const
    const recipient = keyring.unseal(sealed_recipient, testRecipientContext(app_id, name))
    if (setup.type === 'sandbox') return SANDBOX_ANSWER
    const { provider, secrets } = buildProvider(setup)
    const message = testMessage(app, channel, recipient, clock.now())
    const startedAt = clock.now()
    try {
      const called = await callWithTimeout(signal => provider.send(message, signal), { clock, timeoutMs })
      const answer = answerOf(called, clock.now() - startedAt, message, secrets)
      const { outcome, ms, http_status, vendor_code } = answer
      const err = called.fault ? { err: called.fault } : {}
      const fields = { ...requestOf(call), app_id, channel, provider: name, outcome, ms, http_status, vendor_code }
      log.info({ ...fields, ...err }, 'provider.tested')
      return answer
    } finally {
      provider.close?.()
    }
  }

  return async call => {
    if (!isProviderTestCall(call.body)) return { kind: 'not_understood' }
    try {
      return await test(call.body, call)
    } catch (error) {
      const { app_id } = call.body
      if (isMissingKeyError(error)) {
        reportMissingKey(error, { app_id, ...requestOf(call) })
        return { kind: 'missing_key' }
      }
      if (!(error instanceof Unavailable)) throw error
      log.warn({ ...requestOf(call), err: error }, 'call.unavailable')
      return { kind: 'unavailable' }
    }
  }
}

function answerOf(called: ProviderOutcome, ms: number, message: RenderedMessage, secrets: SecretPattern) {
  const details = callDetails(called.answer, ms, message, secrets)
  return {
    kind: 'called',
    outcome: testOutcome(called),
    http_status: details.http_status ?? null,
    vendor_code: details.vendor_code ?? null,
    vendor_text: details.vendor_text ?? null,
    ms,
  } as const
}

function testOutcome({ result, answer }: ProviderOutcome): TestOutcome {
  if (result === 'accepted') return 'accepted'
  const answered = answer.httpStatus !== null || answer.vendorCode !== null
  return result !== 'unknown' && answered ? 'refused' : 'no_answer'
}

/** The text that the app's users get, with a code that verifies nothing. */
function testMessage(app: TenantApp, channel: Channel, recipient: string, now: number): RenderedMessage {
  const { settings } = app
  const { ttl_seconds } = settings.code
  const length = channel === 'telegram' ? Math.min(settings.code.length, MAX_TELEGRAM_DIGITS) : settings.code.length
  const code = String(randomInt(10 ** length)).padStart(length, '0')
  const locale = chooseLocale(settings.locale, settings.locale, LANGUAGES)
  return {
    delivery_id: newId('dlv', now),
    expires_at: now + ttl_seconds * SECOND_MS,
    recipient,
    code,
    locale,
    requested_locale: settings.locale,
    ...renderMessage({
      channel,
      locale,
      app: app.name,
      code,
      minutes: minutesInText(ttl_seconds * SECOND_MS),
      ending: endingOf(settings.channels.sms),
      own: ownTextFor(settings, channel, settings.locale),
    }),
  }
}
