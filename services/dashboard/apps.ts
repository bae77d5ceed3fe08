// GET|POST /companies/{id}/apps, GET|PATCH /apps/{id}
import { z } from 'zod'
import { newId } from '../../infra/ids.ts'
import { sameJson } from '../../infra/store/ensure.ts'
import type { App } from '../domain/tenancy/documents.ts'
import { below } from '../domain/tenancy/problems.ts'
import { type GivenSettings, resolveSettings } from '../domain/tenancy/settings.ts'
import { text } from '../domain/tenancy/shapes.ts'
import { type Resource, time } from './admin.ts'
import { found, invalid } from './requests.ts'
import { type Members, patchedSettings } from './settings.patch.ts'

const settings = z.record(z.string(), z.unknown()).optional()
const given = z.strictObject({ name: text(), settings })
const patch = z.strictObject({ name: text().optional(), settings })

const shown = ({ _id, company_id, name, settings, created_at }: App) => ({
  ...{ id: _id, company_id, name },
  settings: resolveSettings(settings),
  created_at: time(created_at),
})

/** As it was written: what nobody chose is no part of a change. */
const recorded = ({ name, settings }: App) => ({ name, settings })

export const apps: Resource = (router, { store, clock, body, page, audited }) => {
  const docs = store.docs('apps')

  router.get('/companies/:id/apps', async ctx => {
    const { _id: company_id } = await found(store.docs('companies'), ctx.params.id, 'company')
    ctx.body = await page(ctx, { docs, filter: { company_id }, show: shown })
  })

  router.post('/companies/:id/apps', async ctx => {
    const { _id: company_id } = await found(store.docs('companies'), ctx.params.id, 'company')
    const { name, settings } = await body(ctx, given)
    ctx.body = await audited(ctx, () => {
      const now = clock.now()
      const chosen = { name, settings: changed({}, settings) }
      const app: App = { _id: newId('app', now), company_id, ...chosen, created_at: now, rev: 0 }
      return {
        ...{ action: 'app.create', target: app._id, company_id },
        ...{ before: null, after: recorded(app) },
        perform: async () => ((await docs.insert([app]))[0] === 'inserted' ? shown(app) : null),
      }
    })
    ctx.status = 201
  })

  router.get('/apps/:id', async ctx => {
    ctx.body = shown(await found(docs, ctx.params.id, 'app'))
  })

  router.patch('/apps/:id', async ctx => {
    await found(docs, ctx.params.id, 'app')
    const { name, settings } = await body(ctx, patch)
    ctx.body = await audited(ctx, async () => {
      const stored = await found(docs, ctx.params.id, 'app')
      const app = { ...stored, name: name ?? stored.name, settings: changed(stored.settings, settings) }
      if (sameJson(recorded(stored), recorded(app))) return { unchanged: shown(stored) }
      const { _id, rev, company_id } = stored
      return {
        ...{ action: 'app.change', target: _id, company_id },
        ...{ before: recorded(stored), after: recorded(app) },
        perform: async () =>
          (await docs.change([{ _id, rev, update: { $set: recorded(app) } }]))[0] === 'won' ? shown(app) : null,
      }
    })
  })
}

function changed(stored: GivenSettings, patch: Members | undefined): GivenSettings {
  if (patch === undefined) return stored
  const checked = patchedSettings(stored, patch)
  if (!checked.ok) throw invalid(below('settings', checked.problems))
  return checked.value
}
