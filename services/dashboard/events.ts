// GET /apps/{id}/events: the webhook events of an app, newest first.
import type { EventDoc } from '../../infra/otps/documents.ts'
import { type Resource, time } from './admin.ts'
import { found } from './requests.ts'

const shown = ({ _id, mode, type, payload, created_at }: EventDoc) => ({
  ...{ id: _id, type, mode, payload },
  created_at: time(created_at),
})

export const events: Resource = (router, { store, page }) => {
  router.get('/apps/:id/events', async ctx => {
    const { _id: app_id } = await found(store.docs('apps'), ctx.params.id, 'app')
    ctx.body = await page(ctx, { docs: store.docs('events'), filter: { app_id }, newestFirst: true, show: shown })
  })
}
