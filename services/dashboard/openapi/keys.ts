// API keys in the OpenAPI document.
import { type ApiKeyAnswer, apiKey, apiKeyPage, newApiKey } from '../api-keys.schemas.ts'
import { createBody, patchBody } from '../api-keys.ts'
import { adminOperation, noContent, ok, PAGE } from './admin-operation.ts'

const createRequest = createBody.meta({ id: 'CreateApiKeyRequest', description: 'A new API key.' })

const changeRequest = patchBody.meta({ id: 'ChangeApiKeyRequest', description: 'Renames an API key.' })

const example: ApiKeyAnswer = {
  id: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  kind: 'server',
  mode: 'live',
  name: 'backend',
  last4: 'x7Qp',
  created_at: '2030-01-01T12:00:00.000Z',
  last_used_at: null,
  revoked_at: null,
}

export const keyOperations = [
  adminOperation({
    id: 'listApiKeys',
    route: ['get', '/apps/{id}/keys'],
    summary: "List an app's API keys",
    description: 'Revoked ones too. The keys themselves are never shown.',
    parameters: PAGE,
    answers: [ok(apiKeyPage, 'A page of keys.', { items: [example], next_cursor: null })],
  }),
  adminOperation({
    id: 'createApiKey',
    route: ['post', '/apps/{id}/keys'],
    summary: 'Create an API key',
    description: 'The key itself is in this one response only.',
    request: { schema: createRequest, example: { kind: 'server', mode: 'live', name: 'backend' } },
    answers: [ok(newApiKey, 'The key, with its value.', { ...example, key: 'sk_live_…' }, 201)],
  }),
  adminOperation({
    id: 'changeApiKey',
    route: ['patch', '/keys/{id}'],
    summary: 'Rename an API key',
    description: 'A name helps to tell keys apart. Null removes it.',
    request: { schema: changeRequest, example: { name: 'checkout' } },
    answers: [ok(apiKey, 'The key.', { ...example, name: 'checkout' })],
  }),
  adminOperation({
    id: 'revokeApiKey',
    route: ['delete', '/keys/{id}'],
    summary: 'Revoke an API key',
    description: 'It is refused everywhere within five seconds. Revoking twice is safe.',
    answers: [noContent('The key is revoked.')],
  }),
]
