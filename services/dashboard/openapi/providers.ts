// Providers and the explanation of routes in the OpenAPI document.
import { errorRefusal } from '../../domain/openapi/refusals.ts'
import { jsonObject } from '../../domain/openapi/shared-schemas.ts'
import { providerBody } from '../providers/routes.ts'
import {
  type ProviderAnswer,
  type ProviderTestResult,
  provider,
  providerPage,
  providerTest,
} from '../providers/schemas.ts'
import { providerTestBody } from '../providers/test-route.ts'
import { routePreview } from '../routing-preview.schemas.ts'
import { previewBody } from '../routing-preview.ts'
import { adminOperation, conflict, noContent, ok } from './admin-operation.ts'

const putRequest = providerBody
  .extend({
    config: jsonObject.optional().meta({
      description:
        'docs/providers.md lists the members for each type. Secrets that are omitted, or given as their fingerprints, are kept. Without a config, a provider of the same type keeps its own as it is.',
    }),
  })
  .meta({ id: 'PutProviderRequest', description: 'A provider.' })

const routeRequest = previewBody.meta({
  id: 'RoutePreviewRequest',
  description: 'A recipient, and the mode and kind of the key that would send.',
})

const example: ProviderAnswer = {
  name: 'main-sms',
  channel: 'sms',
  type: 'twilio',
  position: 0,
  config: { account_sid: 'AC0123456789abcdef0123456789abcdef', auth_token: 'hmac:pnN2nQ-x', from: '+15005550006' },
  breaker: { state: 'closed', since: '2030-01-31T12:00:00.000Z', processes: 2 },
}
const { name: _, breaker: __, ...given } = example

const testRequest = providerTestBody.meta({
  id: 'ProviderTestRequest',
  description: 'To whom the test message goes.',
})

const refusedTest: ProviderTestResult = {
  outcome: 'refused',
  http_status: 401,
  vendor_code: '20003',
  vendor_text: 'Authenticate',
  ms: 312,
}

export const providerOperations = [
  adminOperation({
    id: 'listProviders',
    route: ['get', '/apps/{id}/providers'],
    summary: "List an app's providers",
    description: 'All of them in one page, in the order they are tried, each with the state of its circuit breaker.',
    answers: [ok(providerPage, 'The providers.', { items: [example], next_cursor: null })],
  }),
  adminOperation({
    id: 'getProvider',
    route: ['get', '/apps/{id}/providers/{name}'],
    summary: 'Look a provider up',
    description: 'Its secrets are shown as fingerprints.',
    answers: [ok(provider, 'The provider.', example)],
  }),
  adminOperation({
    id: 'putProvider',
    route: ['put', '/apps/{id}/providers/{name}'],
    summary: 'Create or change a provider',
    description:
      'The config is replaced, except for its secrets: those that are omitted are kept, unless the destination changes. When `config` is omitted and the provider exists with the same type, the stored config is kept as it is. A name has 1 to 63 of a–z, 0–9, `-` and `_`.',
    request: { schema: putRequest, example: given },
    answers: [ok(provider, 'It was changed.', example), ok(provider, 'It was created.', example, 201)],
  }),
  adminOperation({
    id: 'deleteProvider',
    route: ['delete', '/apps/{id}/providers/{name}'],
    summary: 'Delete a provider',
    description: 'Messages take the next provider of the channel.',
    answers: [noContent('The provider is deleted.')],
  }),
  adminOperation({
    id: 'testProvider',
    route: ['post', '/apps/{id}/providers/{name}/test'],
    summary: 'Test a provider with a real call',
    description:
      "Sends one real message with a made-up code through this provider alone, and answers what the vendor said. There is no verification. It costs what a message to this recipient costs, is refunded when the vendor does not accept it, and obeys the countries and spend caps of the app. It does not count for the circuit breaker, and is not stopped by it. A sandbox accepts everything, sends nothing and costs nothing. At most ten per minute and app, twenty per day (UTC) and company, three in ten minutes to one recipient, and two of a company at once. 503: no process of the channel runs, or it is busy and did not answer within the provider's timeout.",
    request: { schema: testRequest, example: { recipient: '+14155552671' } },
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
        'The app or its company is closed, or the config cannot be unsealed because its data key is no longer configured.',
      ),
    ],
  }),
  adminOperation({
    id: 'explainRoute',
    route: ['post', '/apps/{id}/route'],
    summary: 'Explain the route of a send',
    description:
      'The channel that a send would use now, and the obstacle of each other channel. It sends nothing; limits, money and the client address are not checked.',
    request: { schema: routeRequest, example: { recipient: '+14155552671' } },
    answers: [
      ok(routePreview, 'The route.', {
        channel: 'sms',
        refusal: null,
        why: 'It is the first usable channel in the default order.',
        recipient_type: 'phone',
        country: 'US',
        order: ['sms'],
        whatsapp_mode: 'template',
        channels: [{ channel: 'sms', place: 1, usable: true, obstacle: null, reason: null }],
      }),
    ],
  }),
]
