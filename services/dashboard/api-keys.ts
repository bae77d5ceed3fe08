// GET|POST /apps/{id}/keys, DELETE /keys/{id}. The value of a key is in the answer to its POST and nowhere else: the store has its hash.
// Processes cache a key for at most five seconds, so a revoked key is refused everywhere after that.
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import { hashApiKey, newApiKey } from '../domain/tenancy/api-keys.ts'
import type { ApiKey } from '../domain/tenancy/documents.ts'
import type { AddRoutes } from './admin-deps.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'
import { getOr404 } from './request-input.ts'

const createBody = z.strictObject({ kind: z.enum(['server', 'publishable']), mode: z.enum(['live', 'test']) })

const keyView = ({ _id, app_id, kind, mode, created_at, revoked_at }: ApiKey) => ({
  id: _id,
  app_id,
  kind,
  mode,
  created_at: isoTime(created_at),
  revoked_at: isoTimeOrNull(revoked_at),
})

const auditFields = ({ app_id, kind, mode, revoked_at }: ApiKey) => ({
  app_id,
  kind,
  mode,
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
    const { kind, mode } = await readBody(ctx, createBody)
    ctx.body = await withAudit(ctx, () => {
      const value = newApiKey(kind, mode)
      const now = clock.now()
      const key: ApiKey = {
        _id: newId('key', now),
        app_id,
        company_id,
        kind,
        mode,
        hash: hashApiKey(value),
        created_at: now,
        revoked_at: null,
      }
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
