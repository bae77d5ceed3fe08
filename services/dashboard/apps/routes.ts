// Apps and their settings.
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { eventLoop } from '../../../infra/event-loop.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import type { JsonObject } from '../../../infra/json-object.ts'
import { targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import {
  challengeSecretChange,
  challengeSecretProblems,
  withoutChallengeSecret,
} from '../../domain/tenancy/challenge-secret.ts'
import { type App, MAX_APPS } from '../../domain/tenancy/documents.ts'
import { exceedsGuessBudget } from '../../domain/tenancy/guess-budget.ts'
import { underPath } from '../../domain/tenancy/problems.ts'
import { guessProblem, MAX_SETTINGS_BYTES, resolveSettings, type SettingsInput } from '../../domain/tenancy/settings.ts'
import { twilioSid } from '../../domain/tenancy/twilio-sids.ts'
import { shownName } from '../../domain/tenancy/value-schemas.ts'
import { principalOf } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, ok, page } from '../answers.ts'
import { changeClosing, closed } from '../closing.ts'
import { operation } from '../operation.ts'
import { pageQuery } from '../pages.ts'
import { getOr404, validationProblem } from '../request-input.ts'
import { requireStepUp } from '../step-up.ts'
import { type AppAnswer, app, appPage } from './schemas.ts'
import { membersThatDiffer, preparePatch, unknownSettings } from './settings-patch.ts'
import { settingsPatch } from './settings-schemas.ts'
import { settingsThatNeedStepUp } from './settings-step-up.ts'
import { type NamedSettings, textProblems } from './text-problems.ts'

const settings = z.record(z.string(), z.unknown()).optional()
const createBody = z.strictObject({ name: shownName(), settings })
const changeBody = z.strictObject({ name: shownName().optional(), settings, replaces: settings, closed })
/** The service checks settings with the rules of all of them together; readers want to know the members. */
const documentedSettings = { settings: settingsPatch.optional() }
const documentedReplaces = {
  replaces: settings.meta({
    description:
      'The settings that the caller has read, in the same shape; null for a member that had no value. If another value of one of them is stored, the answer is 409, and nothing is changed.',
  }),
}
/** Enough to name what people edit at once. */
const MAX_NAMED_MEMBERS = 20

const twilioSidsOf = (company_id: string, app_id: string): AppAnswer['twilio'] => ({
  account_sid: twilioSid('cmp', company_id),
  service_sid: twilioSid('app', app_id),
})

const example: AppAnswer = {
  id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: 'Shop',
  settings: resolveSettings({ routing: { default: ['sms'] } }),
  warnings: [],
  twilio: twilioSidsOf('cmp_01k2m8x4e9s7v3hqz5tnw6yb0c', 'app_01k2m8x4e9s7v3hqz5tnw6yb0c'),
  created_at: '2030-01-01T12:00:00.000Z',
  closed_at: null,
}

function appView({ _id, company_id, name, settings, created_at, closed_at = null }: App): AppAnswer {
  const resolved = resolveSettings(settings)
  return {
    id: _id,
    company_id,
    name,
    settings: resolved,
    warnings: warningsOf(resolved),
    twilio: twilioSidsOf(company_id, _id),
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

/** Their settings may be large, and all are read before others have their turn. */
const APPS_READ_AT_ONCE = 4

/** Settings, with room for escapes and nulls. */
export const MAX_APP_BYTES = 1.25 * MAX_SETTINGS_BYTES

export const appOperations = [
  operation({
    id: 'listApps',
    route: 'GET /companies/{id}/apps',
    role: 'viewer',
    summary: "List a company's apps",
    description: 'Each with its complete settings.',
    query: pageQuery,
    answers: [page(appPage, 'A page of apps.', example)],
    handle: ({ ctx, company, query }, { store, readPage }) =>
      readPage(
        ctx,
        { docs: store.docs('apps'), filter: { company_id: company._id }, portion: APPS_READ_AT_ONCE, show: appView },
        query,
      ),
  }),
  operation({
    id: 'createApp',
    route: 'POST /companies/{id}/apps',
    role: 'developer',
    summary: 'Create an app',
    description: 'Its name is in the messages: "123456 is your Shop verification code."',
    body: {
      schema: createBody,
      documentedAs: createBody.extend(documentedSettings).meta({ id: 'CreateAppRequest', description: 'A new app.' }),
      example: { name: 'Shop', settings: { routing: { default: ['sms'] } } },
      maxBytes: MAX_APP_BYTES,
    },
    answers: [ok(app, 'The new app.', example, 201)],
    refusals: [conflict('The company has as many apps as it may have.')],
    handle: async ({ ctx, company, body: { name, settings: given } }, admin) => {
      const { store, clock, keyring, withAudit, changeExclusively } = admin
      const { _id: company_id, max_apps = MAX_APPS } = company
      const docs = store.docs('apps')
      const { settings: patch, secret } = withoutChallengeSecret(keyring, given ?? {})
      const applyTo = prepareSettings(given && patch)
      // Two at once must not both be the last one.
      return changeExclusively(`apps:${company_id}`, renewLease =>
        withAudit(ctx, async () => {
          if ((await docs.count({ company_id }, max_apps)) >= max_apps)
            throw httpException(409, `The company may have ${max_apps} apps. An operator can let it have more.`)
          const now = clock.now()
          const _id = newId('app', now)
          const settings = await applyTo({ name, settings: {} }, name)
          await checkChallenge(admin, {}, settings, secret)
          const app: App = {
            _id,
            company_id,
            name,
            settings,
            ...challengeSecretChange(keyring, _id, { before: {}, after: settings, secret }),
            created_at: now,
            rev: 0,
          }
          return {
            action: 'app.create',
            target: app._id,
            company_id,
            before: null,
            after: auditFields(app),
            perform: async () => {
              await renewLease()
              return (await docs.insert([app]))[0] === 'inserted' ? appView(app) : null
            },
          }
        }),
      )
    },
  }),
  operation({
    id: 'getApp',
    route: 'GET /apps/{id}',
    role: 'viewer',
    summary: 'Look an app up',
    description: 'The app with its complete settings.',
    answers: [ok(app, 'The app.', example)],
    handle: async ({ app }) => appView(app),
  }),
  operation({
    id: 'changeApp',
    route: 'PATCH /apps/{id}',
    role: 'developer',
    summary: 'Change an app',
    description:
      "Settings are merged: objects member by member, lists and values are replaced, null resets to the default. A closed app's keys are refused; its data is kept until retention. Closing and opening it need a step-up in a session, and so do the settings of which docs/settings.md says so.",
    body: {
      schema: changeBody,
      documentedAs: changeBody
        .extend({ ...documentedSettings, ...documentedReplaces })
        .meta({ id: 'ChangeAppRequest', description: 'Changes an app.' }),
      example: { settings: { code: { length: 8 } } },
      maxBytes: 2 * MAX_APP_BYTES,
    },
    answers: [ok(app, 'The app.', example)],
    refusals: [conflict('Other settings are stored than `replaces` has.')],
    stepUp: 'by_change',
    handle: ({ ctx, params, body: { name, settings: given, replaces, closed } }, admin) => {
      const { store, clock, keyring, withAudit } = admin
      const docs = store.docs('apps')
      const { settings: patch, secret } = withoutChallengeSecret(keyring, given ?? {})
      const applyTo = prepareSettings(given && patch)
      return withAudit(ctx, async () => {
        const stored = await getOr404(ctx, docs, params.id, 'app')
        if (replaces) refuseOthersChange(stored, replaces)
        const settings = await applyTo(stored, name ?? stored.name)
        await checkChallenge(admin, stored.settings, settings, secret)
        const change = {
          name: name ?? stored.name,
          settings,
          ...challengeSecretChange(keyring, stored._id, { before: stored.settings, after: settings, secret }),
          ...changeClosing(stored, closed, principalOf(ctx), clock.now()),
        }
        const app = { ...stored, ...change }
        const isMarkedAlike = (stored.closed_by_operator ?? false) === app.closed_by_operator
        if (isMarkedAlike && isDeepStrictEqual(auditFields(stored), auditFields(app)))
          return { unchanged: appView(stored) }
        const isClosing = change.closed_at !== (stored.closed_at ?? null)
        if (isClosing || settingsThatNeedStepUp(stored.settings, change.settings).length > 0)
          await requireStepUp(ctx, admin)
        const { _id, rev, company_id } = stored
        return {
          action: 'app.change',
          target: _id,
          company_id,
          before: auditFields(stored),
          after: auditFields(app),
          perform: async () => ((await changeOne(docs, { _id, rev, update: { $set: change } })) ? appView(app) : null),
        }
      })
    },
  }),
]

/** What the settings alone do not say: that a fingerprint is the stored one's, and that the address of the check would be called. */
async function checkChallenge(
  { inspect }: Pick<AdminDeps, 'inspect'>,
  before: SettingsInput,
  after: SettingsInput,
  secret: string | null,
): Promise<void> {
  const url = after.challenge?.verify_url ?? null
  const refused = url === null || url === before.challenge?.verify_url ? null : await inspect.url(url)
  const problems = [
    ...challengeSecretProblems(before, after, secret),
    ...(refused === null ? [] : [{ path: 'challenge.verify_url', message: targetProblem(refused) }]),
  ]
  if (problems.length > 0) throw validationProblem(underPath('settings', problems))
}

function refuseOthersChange({ settings }: App, replaces: JsonObject): void {
  const unknown = unknownSettings(replaces)
  if (unknown.length > 0) throw validationProblem(underPath('replaces', unknown))
  const changed = membersThatDiffer({ ...resolveSettings(settings) }, replaces)
  if (changed.length === 0) return
  const named = changed.slice(0, MAX_NAMED_MEMBERS).join(', ')
  throw httpException(409, `Settings were changed meanwhile: ${named}. Read them again.`)
}

/** Checks a patch once. What is returned answers the settings to store, and may be asked again after a lost race. */
export function prepareSettings(
  patch: JsonObject | undefined,
): (stored: NamedSettings, name: string) => Promise<SettingsInput> {
  const applyTo = patch === undefined ? undefined : preparePatch(patch)
  return async (stored, name) => {
    // The patch was checked in this turn, or another call has gone before.
    await eventLoop.turn()
    const checked = applyTo?.(stored.settings) ?? { ok: true as const, value: stored.settings }
    // A longer name may make a text too long, so a new name alone has its problems too.
    await eventLoop.turn()
    const problems = checked.ok ? await textProblems(stored, { name, settings: checked.value }) : checked.problems
    if (!checked.ok || problems.length > 0) throw validationProblem(underPath('settings', problems))
    return checked.value
  }
}
