// GET|POST /apps/{id}/keys, PATCH|DELETE /keys/{id}. The value of a key is in the answer to its POST and nowhere else: the store has its
// hash and its last four characters.
// Processes cache a key for at most five seconds, so a revoked key is refused everywhere after that.
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../infra/iso-time.ts'
import { keyKind, keyMode } from '../domain/openapi/shared-schemas.ts'
import { keyDocument, newApiKey } from '../domain/tenancy/api-keys.ts'
import type { ApiKey } from '../domain/tenancy/documents.ts'
import { text } from '../domain/tenancy/value-schemas.ts'
import type { AddRoutes } from './admin-deps.ts'
import type { ApiKeyAnswer } from './api-keys.schemas.ts'
import { getOr404 } from './request-input.ts'

const name = text(100).nullish().meta({ description: 'What the key is used for.' })

export const createBody = z.strictObject({ kind: keyKind, mode: keyMode, name })
export const patchBody = z.strictObject({ name })

const keyView = ({ _id, ...key }: ApiKey): ApiKeyAnswer => ({
  id: _id,
  app_id: key.app_id,
  kind: key.kind,
  mode: key.mode,
  name: key.name ?? null,
  last4: key.last4 ?? null,
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

export const addKeyRoutes: AddRoutes = (router, { store, clock, readBody, readPage, withAudit }) => {
  const docs = store.docs('keys')

  router.get('/apps/:id/keys', async ctx => {
    const { _id: app_id } = await getOr404(ctx, store.docs('apps'), ctx.params.id, 'app')
    ctx.body = await readPage(ctx, { docs, filter: { app_id }, show: keyView })
  })

  router.post('/apps/:id/keys', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, store.docs('apps'), ctx.params.id, 'app')
    const { kind, mode, name = null } = await readBody(ctx, createBody)
    ctx.body = await withAudit(ctx, () => {
      const value = newApiKey(kind, mode)
      const now = clock.now()
      const key = keyDocument(value, { _id: newId('key', now), app_id, company_id, kind, mode, name, created_at: now })
      return {
        action: 'key.create',
        target: key._id,
        company_id,
        before: null,
        after: auditFields(key),
        perform: async () => ((await docs.insert([key]))[0] === 'inserted' ? { ...keyView(key), key: value } : null),
      }
    })
    ctx.status = 201
  })

  router.patch('/keys/:id', async ctx => {
    await getOr404(ctx, docs, ctx.params.id, 'key')
    const { name } = await readBody(ctx, patchBody)
    ctx.body = await withAudit(ctx, async () => {
      const key = await getOr404(ctx, docs, ctx.params.id, 'key')
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
    })
  })

  router.delete('/keys/:id', async ctx => {
    await withAudit(ctx, async () => {
      const key = await getOr404(ctx, docs, ctx.params.id, 'key')
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
    ctx.status = 204
  })
}
