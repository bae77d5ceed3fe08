// GET|POST /companies/{id}/apps, GET|PATCH /apps/{id}
import { z } from 'zod'
import { newId } from '../../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import type { JsonObject } from '../../../infra/json-object.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import { exceedsGuessBudget } from '../../domain/tenancy/guess-budget.ts'
import { underPath } from '../../domain/tenancy/problems.ts'
import { guessProblem, resolveSettings, type SettingsInput } from '../../domain/tenancy/settings.ts'
import { shownName } from '../../domain/tenancy/value-schemas.ts'
import { principalOf } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { changeClosing, closed } from '../closing.ts'
import { getOr404, validationProblem } from '../request-input.ts'
import type { AppAnswer } from './schemas.ts'
import { patchSettings } from './settings-patch.ts'

const settings = z.record(z.string(), z.unknown()).optional()
export const createBody = z.strictObject({ name: shownName(), settings })
export const patchBody = z.strictObject({ name: shownName().optional(), settings, closed })

function appView({ _id, company_id, name, settings, created_at, closed_at = null }: App): AppAnswer {
  const resolved = resolveSettings(settings)
  return {
    id: _id,
    company_id,
    name,
    settings: resolved,
    warnings: warningsOf(resolved),
    created_at: isoTime(created_at),
    closed_at: isoTimeOrNull(closed_at),
  }
}

function warningsOf(settings: AppSettings): AppAnswer['warnings'] {
  const warnings: AppAnswer['warnings'] = []
  if (exceedsGuessBudget(settings)) warnings.push({ path: 'limits.recipient_verify', message: guessProblem(settings) })
  if (settings.routing.default.length === 0)
    warnings.push({
      path: 'routing.default',
      message: 'is empty: a send to a country without an order of its own is refused (NoEnabledChannelError)',
    })
  return warnings
}

/** Settings as they were written: defaults are not part of a change. */
const auditFields = ({ name, settings, closed_at = null }: App) => ({
  name,
  settings,
  closed_at: isoTimeOrNull(closed_at),
})

export const addAppRoutes: AddRoutes = (router, { store, clock, readBody, readPage, withAudit }) => {
  const docs = store.docs('apps')

  router.get('/companies/:id/apps', async ctx => {
    const { _id: company_id } = await getOr404(ctx, store.docs('companies'), ctx.params.id, 'company')
    ctx.body = await readPage(ctx, { docs, filter: { company_id }, show: appView })
  })

  router.post('/companies/:id/apps', async ctx => {
    const { _id: company_id } = await getOr404(ctx, store.docs('companies'), ctx.params.id, 'company')
    const { name, settings } = await readBody(ctx, createBody)
    ctx.body = await withAudit(ctx, () => {
      const now = clock.now()
      const app: App = {
        _id: newId('app', now),
        company_id,
        name,
        settings: applySettingsPatch({}, settings),
        created_at: now,
        rev: 0,
      }
      return {
        action: 'app.create',
        target: app._id,
        company_id,
        before: null,
        after: auditFields(app),
        perform: async () => ((await docs.insert([app]))[0] === 'inserted' ? appView(app) : null),
      }
    })
    ctx.status = 201
  })

  router.get('/apps/:id', async ctx => {
    ctx.body = appView(await getOr404(ctx, docs, ctx.params.id, 'app'))
  })

  router.patch('/apps/:id', async ctx => {
    await getOr404(ctx, docs, ctx.params.id, 'app')
    const { name, settings, closed } = await readBody(ctx, patchBody)
    ctx.body = await withAudit(ctx, async () => {
      const stored = await getOr404(ctx, docs, ctx.params.id, 'app')
      const change = {
        name: name ?? stored.name,
        settings: applySettingsPatch(stored.settings, settings),
        ...changeClosing(stored, closed, principalOf(ctx), clock.now()),
      }
      const app = { ...stored, ...change }
      const isMarkedAlike = (stored.closed_by_operator ?? false) === app.closed_by_operator
      if (isMarkedAlike && sameJson(auditFields(stored), auditFields(app))) return { unchanged: appView(stored) }
      const { _id, rev, company_id } = stored
      return {
        action: 'app.change',
        target: _id,
        company_id,
        before: auditFields(stored),
        after: auditFields(app),
        perform: async () =>
          (await docs.change([{ _id, rev, update: { $set: change } }]))[0] === 'won' ? appView(app) : null,
      }
    })
  })
}

function applySettingsPatch(stored: SettingsInput, patch: JsonObject | undefined): SettingsInput {
  if (patch === undefined) return stored
  const checked = patchSettings(stored, patch)
  if (!checked.ok) throw validationProblem(underPath('settings', checked.problems))
  return checked.value
}
