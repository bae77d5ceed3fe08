// Apps and their settings in the OpenAPI document.
import { resolveSettings } from '../../domain/tenancy/settings.ts'
import { createBody, patchBody } from '../apps/routes.ts'
import { type AppAnswer, app, appPage } from '../apps/schemas.ts'
import { settingsPatch } from '../apps/settings-schemas.ts'
import { adminOperation, ok, PAGE } from './admin-operation.ts'

const createRequest = createBody
  .extend({ settings: settingsPatch.optional() })
  .meta({ id: 'CreateAppRequest', description: 'A new app.' })

const changeRequest = patchBody
  .extend({ settings: settingsPatch.optional() })
  .meta({ id: 'ChangeAppRequest', description: 'Changes an app.' })

const example: AppAnswer = {
  id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: 'Shop',
  settings: resolveSettings({ routing: { default: ['sms'] } }),
  warnings: [],
  created_at: '2030-01-01T12:00:00.000Z',
  closed_at: null,
}

export const appOperations = [
  adminOperation({
    id: 'listApps',
    route: ['get', '/companies/{id}/apps'],
    summary: "List a company's apps",
    description: 'Each with its complete settings.',
    parameters: PAGE,
    answers: [ok(appPage, 'A page of apps.', { items: [example], next_cursor: null })],
  }),
  adminOperation({
    id: 'createApp',
    route: ['post', '/companies/{id}/apps'],
    summary: 'Create an app',
    description: 'Its name is in the messages: "123456 is your Shop verification code."',
    request: { schema: createRequest, example: { name: 'Shop', settings: { routing: { default: ['sms'] } } } },
    answers: [ok(app, 'The new app.', example, 201)],
  }),
  adminOperation({
    id: 'getApp',
    route: ['get', '/apps/{id}'],
    summary: 'Look an app up',
    description: 'The app with its complete settings.',
    answers: [ok(app, 'The app.', example)],
  }),
  adminOperation({
    id: 'changeApp',
    route: ['patch', '/apps/{id}'],
    summary: 'Change an app',
    description:
      "Settings are merged: objects member by member, lists and values are replaced, null resets to the default. A closed app's keys are refused; its data is kept until retention.",
    request: { schema: changeRequest, example: { settings: { code: { length: 8 } } } },
    answers: [ok(app, 'The app.', example)],
  }),
]
