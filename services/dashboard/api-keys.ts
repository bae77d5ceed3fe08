// API keys. The value of a key is in the answer to its POST and nowhere else: the store has its hash and its last four characters.
// Processes cache a key for at most five seconds, so a revoked key is refused everywhere after that.
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import { keyKind, keyMode, timeSchema } from '../domain/openapi/shared-schemas.ts'
import { keyDocument, newApiKey } from '../domain/tenancy/api-keys.ts'
import type { ApiKey } from '../domain/tenancy/documents.ts'
import { text } from '../domain/tenancy/value-schemas.ts'
import { noContent, ok, page } from './answers.ts'
import { operation } from './operation.ts'
import { pageOf } from './page-schema.ts'
import { pageQuery } from './pages.ts'
import { getOr404 } from './request-input.ts'

const name = text(100).nullish().meta({ description: 'What the key is used for.' })

const apiKey = z
  .object({
    id: z.string().meta({ description: 'Identifies the key. It is not the key itself.' }),
    app_id: z.string().meta({ description: 'The app it belongs to.' }),
    kind: keyKind,
    mode: keyMode,
    name: z.string().nullable().meta({ description: 'What it is used for, in the words of its owner.' }),
    last4: z.string().meta({ description: 'The last four characters of the key.' }),
    created_at: timeSchema('When it was created.'),
    last_used_at: timeSchema('When it was last used, to the minute; null when it never was.').nullable(),
    revoked_at: timeSchema('When it was revoked; null while it is valid.').nullable(),
  })
  .meta({ id: 'ApiKey', description: 'A key of the client API, without its value.' })
type ApiKeyAnswer = z.output<typeof apiKey>

const shownOnce = apiKey
  .extend({ key: z.string().meta({ description: 'The key itself. It is in this one response only.' }) })
  .meta({ id: 'NewApiKey', description: 'A key of the client API, with its value.' })

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

const keyView = ({ _id, ...key }: ApiKey): ApiKeyAnswer => ({
  id: _id,
  app_id: key.app_id,
  kind: key.kind,
  mode: key.mode,
  name: key.name ?? null,
  last4: key.last4,
  created_at: isoTime(key.created_at),
  last_used_at: isoTimeOrNull(key.last_used_at ?? null),
  revoked_at: isoTimeOrNull(key.revoked_at),
})

const auditFields = ({ app_id, kind, mode, name = null, revoked_at }: ApiKey) => ({
  app_id,
  kind,
  mode,
  name,
  revoked_at: isoTimeOrNull(revoked_at),
})

export const keyOperations = [
  operation({
    id: 'listApiKeys',
    request: 'GET /apps/{id}/keys',
    role: 'viewer',
    summary: "List an app's API keys",
    description: 'Newest first, revoked ones too. The keys themselves are never shown.',
    query: pageQuery,
    answers: [page(pageOf('ApiKeyPage', apiKey), 'A page of keys.', example)],
    handle: ({ ctx, app, query }, { store, readPage }) =>
      readPage(ctx, { docs: store.docs('keys'), filter: { app_id: app._id }, newestFirst: true, show: keyView }, query),
  }),
  operation({
    id: 'createApiKey',
    request: 'POST /apps/{id}/keys',
    role: 'developer',
    stepUp: ({ body }) => body.mode === 'live',
    summary: 'Create an API key',
    description: 'The key itself is in this one response only. A live one needs a step-up in a session.',
    body: {
      schema: z
        .strictObject({ kind: keyKind, mode: keyMode, name })
        .meta({ id: 'CreateApiKeyRequest', description: 'A new API key.' }),
      example: { kind: 'server', mode: 'live', name: 'backend' },
    },
    answers: [ok(shownOnce, 'The key, with its value.', { ...example, key: 'sk_live_…' }, 201)],
    handle: ({ ctx, app, body: { kind, mode, name = null } }, { store, clock, withAudit }) =>
      withAudit(ctx, () => {
        const { _id: app_id, company_id } = app
        const value = newApiKey(kind, mode)
        const now = clock.now()
        const key = keyDocument(value, {
          _id: newId('key', now),
          app_id,
          company_id,
          kind,
          mode,
          name,
          created_at: now,
        })
        return {
          action: 'key.create',
          target: key._id,
          company_id,
          before: null,
          after: auditFields(key),
          perform: async () =>
            (await store.docs('keys').insert([key]))[0] === 'inserted' ? { ...keyView(key), key: value } : null,
        }
      }),
  }),
  operation({
    id: 'changeApiKey',
    request: 'PATCH /keys/{id}',
    role: 'developer',
    summary: 'Rename an API key',
    description: 'A name helps to tell keys apart. Null removes it.',
    body: {
      schema: z.strictObject({ name }).meta({ id: 'ChangeApiKeyRequest', description: 'Renames an API key.' }),
      example: { name: 'checkout' },
    },
    answers: [ok(apiKey, 'The key.', { ...example, name: 'checkout' })],
    handle: ({ ctx, params, body: { name } }, { store, withAudit }) =>
      withAudit(ctx, async () => {
        const docs = store.docs('keys')
        const key = await getOr404(ctx, docs, params.id, 'key')
        const before = key.name ?? null
        if (name === undefined || name === before) return { unchanged: keyView(key) }
        return {
          action: 'key.rename',
          target: key._id,
          company_id: key.company_id,
          before: auditFields(key),
          after: auditFields({ ...key, name }),
          perform: async () => {
            const renamed = await docs.modify({ _id: key._id, name: before }, { $set: { name } })
            return renamed && keyView(renamed)
          },
        }
      }),
  }),
  operation({
    id: 'revokeApiKey',
    request: 'DELETE /keys/{id}',
    role: 'developer',
    stepUp: ({ key }) => key.mode === 'live',
    summary: 'Revoke an API key',
    description:
      'It is refused everywhere within five seconds. Revoking twice is safe. A live one needs a step-up in a session.',
    answers: [noContent('The key is revoked.')],
    handle: async ({ ctx, params }, { store, clock, withAudit }) => {
      const docs = store.docs('keys')
      await withAudit(ctx, async () => {
        const key = await getOr404(ctx, docs, params.id, 'key')
        if (key.revoked_at !== null) return { unchanged: key }
        const revoked_at = clock.now()
        return {
          action: 'key.revoke',
          target: key._id,
          company_id: key.company_id,
          before: auditFields(key),
          after: auditFields({ ...key, revoked_at }),
          perform: () => docs.modify({ _id: key._id, revoked_at: null }, { $set: { revoked_at } }),
        }
      })
    },
  }),
]
