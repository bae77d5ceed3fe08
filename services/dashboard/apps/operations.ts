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
import {
  challengeSecretChange,
  challengeSecretProblems,
  withoutChallengeSecret,
} from '../../domain/tenancy/challenge-secret.ts'
import { type App, MAX_APPS } from '../../domain/tenancy/documents.ts'
import { askedSettings, pendingRetention, settingsAt, storedSettings } from '../../domain/tenancy/pending-retention.ts'
import { underPath } from '../../domain/tenancy/problems.ts'
import {
  MAX_SETTINGS_BYTES,
  MAX_SETTINGS_VALUES,
  resolveSettings,
  type SettingsInput,
} from '../../domain/tenancy/settings.ts'
import { twilioSid } from '../../domain/tenancy/twilio-sids.ts'
import { shownName } from '../../domain/tenancy/value-schemas.ts'
import { principalOf, requireRole } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, noContent, ok, page } from '../answers.ts'
import { changeClosing, closed, deletableAtOf, NOT_DELETABLE, requireDeletable } from '../closing.ts'
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
  pending_retention: null,
  warnings: [],
  twilio: twilioSidsOf('cmp_01k2m8x4e9s7v3hqz5tnw6yb0c', 'app_01k2m8x4e9s7v3hqz5tnw6yb0c'),
  created_at: '2030-01-01T12:00:00.000Z',
  closed_at: null,
  deletable_at: null,
}

function appView(app: App, now: number): AppAnswer {
  const { _id, company_id, name, created_at, closed_at = null } = app
  const resolved = resolveSettings(settingsAt(app, now))
  return {
    id: _id,
    company_id,
    name,
    settings: resolved,
    pending_retention: pendingView(app, now),
    warnings: resolved.routing.default.length === 0 ? [EMPTY_DEFAULT_ORDER] : [],
    twilio: twilioSidsOf(company_id, _id),
    created_at: isoTime(created_at),
    closed_at: isoTimeOrNull(closed_at),
    deletable_at: deletableAtOf({ closed_at }),
  }
}

const EMPTY_DEFAULT_ORDER: AppAnswer['warnings'][number] = {
  path: 'routing.default',
  message: 'is empty: a send to a country without an order of its own is refused (NoEnabledChannelError)',
}

function pendingView(app: App, now: number): AppAnswer['pending_retention'] {
  const pending = pendingRetention(app, now)
  return pending && { retention_days: pending.retention_days, effective_at: isoTime(pending.effective_at) }
}

/** Settings as they were written: defaults are not part of a change. */
function auditFields(app: App, now: number) {
  const pending_retention = pendingView(app, now)
  return {
    name: app.name,
    settings: settingsAt(app, now),
    ...(pending_retention && { pending_retention }),
    closed_at: isoTimeOrNull(app.closed_at ?? null),
  }
}

const NOT_DELETED = { deleted_at: { $exists: false } } as const

/** Their settings may be large, and all are read before others have their turn. */
const APPS_READ_AT_ONCE = 2

/** Settings, with room for escapes and nulls. */
export const MAX_APP_BYTES = 1.25 * MAX_SETTINGS_BYTES
export const MAX_APP_VALUES = 1.25 * MAX_SETTINGS_VALUES

export const appOperations = [
  operation({
    id: 'listApps',
    request: 'GET /companies/{id}/apps',
    role: 'viewer',
    summary: "List a company's apps",
    description: 'Each with its complete settings.',
    query: pageQuery,
    answers: [page(appPage, 'A page of apps.', example)],
    handle: ({ ctx, company, query }, { store, clock, readPage }) => {
      const show = (app: App) => appView(app, clock.now())
      const listing = {
        docs: store.docs('apps'),
        filter: { company_id: company._id, ...NOT_DELETED },
        portion: APPS_READ_AT_ONCE,
        show,
      }
      return readPage(ctx, listing, query)
    },
  }),
  operation({
    id: 'createApp',
    request: 'POST /companies/{id}/apps',
    role: 'developer',
    summary: 'Create an app',
    description: 'Its name is in the messages: "123456 is your Shop verification code."',
    body: {
      schema: createBody,
      documentedAs: createBody.extend(documentedSettings).meta({ id: 'CreateAppRequest', description: 'A new app.' }),
      example: { name: 'Shop', settings: { routing: { default: ['sms'] } } },
      maxBytes: MAX_APP_BYTES,
      maxValues: MAX_APP_VALUES,
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
            after: auditFields(app, now),
            perform: async () => {
              await renewLease()
              return (await docs.insert([app]))[0] === 'inserted' ? appView(app, now) : null
            },
          }
        }),
      )
    },
  }),
  operation({
    id: 'getApp',
    request: 'GET /apps/{id}',
    role: 'viewer',
    summary: 'Look an app up',
    description: 'The app with its complete settings.',
    answers: [ok(app, 'The app.', example)],
    handle: async ({ app }, { clock }) => appView(app, clock.now()),
  }),
  operation({
    id: 'changeApp',
    request: 'PATCH /apps/{id}',
    role: 'developer',
    summary: 'Change an app',
    description:
      "Settings are merged: objects member by member, lists and values are replaced, null resets to the default. A closed app's keys are refused; its data is kept until retention. Closing and opening it need a step-up in a session, and so do the settings of which docs/settings.md says so. Only an owner makes `retention_days` shorter: all owners are told, and it is in force after 24 hours, until when `pending_retention` has it; a value that is not shorter undoes it at once.",
    body: {
      schema: changeBody,
      documentedAs: changeBody
        .extend({ ...documentedSettings, ...documentedReplaces })
        .meta({ id: 'ChangeAppRequest', description: 'Changes an app.' }),
      example: { settings: { code: { length: 8 } } },
      maxBytes: 2 * MAX_APP_BYTES,
      maxValues: 2 * MAX_APP_VALUES,
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
        const now = clock.now()
        if (replaces) refuseOthersChange(settingsAt(stored, now), replaces)
        const asked = await applyTo({ ...stored, settings: askedSettings(stored) }, name ?? stored.name)
        await checkChallenge(admin, stored.settings, asked, secret)
        const change = {
          name: name ?? stored.name,
          ...storedSettings(stored, asked, now),
          ...challengeSecretChange(keyring, stored._id, { before: stored.settings, after: asked, secret }),
          ...changeClosing(stored, closed, principalOf(ctx), now),
        }
        const app = { ...stored, ...change }
        const isMarkedAlike = (stored.closed_by_operator ?? false) === app.closed_by_operator
        if (isMarkedAlike && isDeepStrictEqual(auditFields(stored, now), auditFields(app, now)))
          return { unchanged: appView(stored, now) }
        const isClosing = change.closed_at !== (stored.closed_at ?? null)
        const { pending_retention } = change
        const isShortened = pending_retention !== null && pending_retention !== stored.pending_retention
        if (isShortened) requireRole(ctx, 'owner')
        const changed = isShortened ? asked : change.settings
        if (isClosing || settingsThatNeedStepUp(settingsAt(stored, now), changed).length > 0)
          await requireStepUp(ctx, admin)
        const { _id, rev, company_id } = stored
        return {
          action: 'app.change',
          target: _id,
          company_id,
          before: auditFields(stored, now),
          after: auditFields(app, now),
          perform: async () =>
            (await changeOne(docs, { _id, rev, update: { $set: change } })) ? appView(app, now) : null,
        }
      })
    },
  }),
  operation({
    id: 'deleteApp',
    request: 'DELETE /apps/{id}',
    role: 'owner',
    allowedWhenClosed: true,
    stepUp: true,
    summary: 'Delete an app',
    description:
      'For good: its settings, keys, providers, endpoints, verifications, events and statistics, within minutes of the answer. The entries of the ledger and the audit log stay, with its name. Only an app that was closed 30 days ago or earlier is deleted.',
    answers: [noContent('The app is gone. What belongs to it is deleted within minutes.')],
    refusals: [conflict(NOT_DELETABLE)],
    handle: async ({ ctx, params }, { store, clock, withAudit }) => {
      const docs = store.docs('apps')
      await withAudit(ctx, async () => {
        const stored = await getOr404(ctx, docs, params.id, 'app')
        const now = clock.now()
        requireDeletable(stored, 'app', now)
        const { _id, rev, company_id, name, closed_at = null } = stored
        return {
          action: 'app.delete',
          target: _id,
          company_id,
          before: { name, closed_at: isoTimeOrNull(closed_at) },
          after: null,
          perform: async () =>
            (await changeOne(docs, { _id, rev, update: { $set: { deleted_at: now } } })) ? _id : null,
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

function refuseOthersChange(settings: SettingsInput, replaces: JsonObject): void {
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
