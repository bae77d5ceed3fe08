// The health of an app in the OpenAPI document.
import { type AppHealthAnswer, appHealth } from '../health/schemas.ts'
import { adminOperation, ok } from './admin-operation.ts'

const example: AppHealthAnswer = {
  causes: [
    { cause: 'channel_stopped', channel: 'sms', provider: null, reason: null, since: null },
    {
      cause: 'provider_open',
      channel: 'sms',
      provider: 'main-sms',
      reason: null,
      since: '2030-01-01T12:00:00.000Z',
    },
  ],
}

export const healthOperations = [
  adminOperation({
    id: 'getAppHealth',
    route: ['get', '/apps/{id}/health'],
    summary: 'Ask why messages do not leave',
    description: 'What keeps the messages and events of the app from leaving now.',
    answers: [ok(appHealth, 'The causes.', example)],
  }),
]
