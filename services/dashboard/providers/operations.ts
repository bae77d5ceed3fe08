// The providers of an app. Secrets are never shown, only their fingerprints. A PUT keeps the secrets that it omits, as long as the
// provider's address stays the same. Without a config it keeps the stored one as it is. One that names what it replaces overwrites no other
// values.
import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { type TargetInspector, targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { changeOne, getOne } from '../../../infra/store/one-doc.ts'
import { findBreakers } from '../../domain/breakers/documents.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { jsonObject } from '../../domain/openapi/shared-schemas.ts'
import { CONSOLE_APP_ID } from '../../domain/tenancy/console.ts'
import {
  findKnownProviders,
  findProviders,
  type Provider,
  providerContext,
  providerId,
} from '../../domain/tenancy/documents.ts'
import type { Fingerprinter } from '../../domain/tenancy/fingerprint.ts'
import { check, type InputProblem, underPath } from '../../domain/tenancy/problems.ts'
import { addressIn } from '../../domain/tenancy/provider-destinations.ts'
import { isProviderType } from '../../domain/tenancy/provider-types/list.ts'
import {
  channelProblems,
  MAX_PROVIDERS_PER_APP,
  providerCost,
  providerCountries,
  providerName,
  soleChannel,
} from '../../domain/tenancy/providers.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, noContent, ok, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { NO_LIMIT, wholeListFields } from '../pages.ts'
import { getOr404, validationProblem } from '../request-input.ts'
import { applyConfigChange, type StoredConfig } from './changes.ts'
import { type ProviderAnswer, provider, providerPage, providerType, replacedProvider } from './schemas.ts'
import { providerAuditFields, providerView, unsealConfig, withoutConfig } from './view.ts'

const MAX_POSITION = 10_000
const POSITION_DIGITS = 8
const PROVIDERS_SHOWN_AT_ONCE = 1

const providerBody = z.strictObject({
  type: providerType,
  channel: channel.optional(),
  /** Providers are tried in the order of positions, then of names. A new provider without a position is the last; one
   *  with the position of another comes before that. */
  position: z.int().min(0).max(MAX_POSITION).optional(),
  paused: z.boolean().optional(),
  countries: providerCountries.optional(),
  cost_micros: providerCost.optional(),
  /** Whether it is meant that users can no longer sign in by email. */
  confirm: z.boolean().optional(),
  config: z.unknown().optional(),
  replaces: replacedProvider.nullable().optional(),
})
type ProviderInput = z.output<typeof providerBody>

const example: ProviderAnswer = {
  name: 'main-sms',
  channel: 'sms',
  type: 'twilio',
  position: 0,
  paused: false,
  countries: null,
  cost_micros: { GB: 42000, '*': 60000 },
  config: { account_sid: 'AC0123456789abcdef0123456789abcdef', auth_token: 'hmac:pnN2nQ-x', from: '+15005550006' },
  breaker: { state: 'closed', since: '2030-01-31T12:00:00.000Z', processes: 2 },
}
const { name: _, breaker: __, ...given } = example

export const providerOperations = [
  operation({
    id: 'listProviders',
    request: 'GET /apps/{id}/providers',
    role: 'viewer',
    summary: "List an app's providers",
    description:
      'All of them in one page, unless that has more than 1 MiB, in the order they are tried, each with the state of its circuit breaker.',
    query: z.strictObject(wholeListFields),
    answers: [page(providerPage, 'The providers.', example)],
    handle: async ({ ctx, app, query: { cursor } }, { store, keyring, clock, readPageOf }) => {
      const [providers, breakers] = await Promise.all([
        findProviders(store, app._id),
        findBreakers(store, app._id, clock.now()),
      ])
      const positionOf = ({ position, name }: Provider) => `${String(position).padStart(POSITION_DIGITS, '0')} ${name}`
      const source = {
        read: async (after = '', limit: number) => providers.filter(one => positionOf(one) > after).slice(0, limit),
        // Each text of a config may be a secret, of which a fingerprint is made.
        portion: PROVIDERS_SHOWN_AT_ONCE,
        positionOf,
        show: (one: Provider) => providerView(keyring, one, breakers),
      }
      return readPageOf(ctx, source, { limit: NO_LIMIT, cursor })
    },
  }),
  operation({
    id: 'getProvider',
    request: 'GET /apps/{id}/providers/{name}',
    role: 'viewer',
    summary: 'Look a provider up',
    description: 'Its secrets are shown as fingerprints.',
    answers: [ok(provider, 'The provider.', example)],
    handle: async ({ ctx, app, params: { name } }, { store, keyring, clock }) => {
      const found = await getOr404(ctx, store.docs('providers'), providerId(app._id, name), 'provider')
      return providerView(keyring, found, await findBreakers(store, app._id, clock.now()))
    },
  }),
  operation({
    id: 'putProvider',
    request: 'PUT /apps/{id}/providers/{name}',
    role: 'developer',
    stepUp: true,
    summary: 'Create or change a provider',
    description:
      'The config is replaced, except for its secrets: those that are omitted are kept, unless the destination changes. When `config` is omitted and the provider exists with the same type, the stored config is kept as it is; so are `position`, `paused`, `countries` and `cost_micros` when they are omitted. A provider that is given the `position` of another of its channel comes before it: that one moves by one, and so do those that follow it without a gap. One whose type the release does not know keeps its position. A name has 1 to 63 of a–z, 0–9, `-` and `_`.',
    body: {
      schema: providerBody,
      documentedAs: providerBody
        .extend({
          config: jsonObject.optional().meta({
            description:
              'docs/providers.md lists the members for each type. Secrets that are omitted, or given as their fingerprints, are kept. Without a config, a provider of the same type keeps its own as it is.',
          }),
          paused: z.boolean().optional().meta({ description: 'Whether it is left out. Its receipts still count.' }),
          countries: providerCountries
            .optional()
            .meta({ description: 'The countries whose numbers it serves, ISO 3166-1 alpha-2; null: all.' }),
          cost_micros: providerCost.optional().meta({
            description:
              'What the vendor charges for a message, in micro-units: by ISO 3166-1 alpha-2 code, `*` for the other countries.',
          }),
          confirm: z.boolean().optional().meta({
            description:
              "Needed to pause the last email provider of the dashboard's own app, which sends sign-in codes.",
          }),
        })
        .meta({ id: 'PutProviderRequest', description: 'A provider.' }),
      example: given,
    },
    answers: [ok(provider, 'It was changed.', example), ok(provider, 'It was created.', example, 201)],
    refusals: [conflict('Other values are stored than `replaces` has, or the provider was deleted or added.')],
    handle: async ({ ctx, app, params: { name }, body: input }, admin) => {
      const { store, keyring, clock, inspect, withAudit } = admin
      const { _id: app_id, company_id } = app
      const docs = store.docs('providers')
      const checkedName = check(providerName, name)
      if (!checkedName.ok) throw validationProblem(underPath('name', checkedName.problems))
      await checkChannelAndAddress(inspect, input)
      const answer = await withAudit(ctx, async () => {
        const _id = providerId(app_id, name)
        const stored = await getOne(docs, _id)
        if (input.replaces !== undefined) refuseOthersChange(keyring, stored, input.replaces)
        const all = await findProviders(store, app_id)
        if (!stored && all.length >= MAX_PROVIDERS_PER_APP)
          throw validationProblem([
            { path: '', message: `cannot be saved: an app has at most ${MAX_PROVIDERS_PER_APP} providers` },
          ])
        const sameType = stored?.type === input.type ? stored : undefined
        const kept = input.config === undefined ? sameType?.config : undefined
        const before = sameType ? unsealConfig(keyring, sameType) : null
        const config = kept === undefined ? configOf(keyring, input, before) : before?.raw
        const next: Provider = {
          _id,
          app_id,
          name,
          type: input.type,
          channel: channelOf(input),
          rev: stored ? stored.rev + 1 : 0,
          paused: input.paused ?? stored?.paused ?? false,
          countries: input.countries === undefined ? (stored?.countries ?? null) : input.countries,
          cost_micros: input.cost_micros ?? stored?.cost_micros ?? {},
          position: input.position ?? stored?.position ?? (all.at(-1)?.position ?? -1) + 1,
          config: kept ?? keyring.seal(JSON.stringify(config), providerContext(_id)),
        }
        if (stored && next.paused && input.confirm !== true) await requireSignInMails(store, stored, UNCONFIRMED.pause)
        const sameConfig = kept !== undefined || (before !== null && sameJson(before.raw, config))
        const moved = input.position === undefined ? [] : makeRoom(all, next)
        const isSame = sameConfig && stored && sameJson(withoutConfig(stored), withoutConfig(next))
        if (isSame && moved.length === 0) return { unchanged: { created: false, provider: stored } }
        return {
          action: stored ? 'provider.change' : 'provider.create',
          target: _id,
          company_id,
          before: stored ? providerAuditFields(keyring, stored) : null,
          after: {
            ...providerAuditFields(keyring, next),
            ...(moved.length === 0 ? {} : { moved: moved.map(({ name, position }) => ({ name, position })) }),
          },
          perform: async () => {
            // The last one first: a crash in between leaves the order as it was.
            for (const { _id, rev, position } of moved.toReversed())
              if (!(await changeOne(docs, { _id, rev, update: { $set: { position } } }))) return null
            return (await writeProvider(admin, stored, next)) ? { created: !stored, provider: next } : null
          },
        }
      })
      if (answer.created) ctx.status = 201
      return providerView(keyring, answer.provider, await findBreakers(store, app_id, clock.now()))
    },
  }),
  operation({
    id: 'deleteProvider',
    request: 'DELETE /apps/{id}/providers/{name}',
    role: 'developer',
    stepUp: true,
    summary: 'Delete a provider',
    description: 'Messages take the next provider of the channel that is not paused.',
    query: z.strictObject({
      confirm: z.literal('true').optional().meta({
        description: "Needed to delete the last email provider of the dashboard's own app, which sends sign-in codes.",
      }),
    }),
    answers: [noContent('The provider is deleted.')],
    handle: async ({ ctx, app, params: { name }, query }, { store, keyring, withAudit }) => {
      const { _id: app_id, company_id } = app
      const docs = store.docs('providers')
      await withAudit(ctx, async () => {
        const stored = await getOr404(ctx, docs, providerId(app_id, name), 'provider')
        if (query.confirm === undefined) await requireSignInMails(store, stored, UNCONFIRMED.delete)
        return {
          action: 'provider.delete',
          target: stored._id,
          company_id,
          before: providerAuditFields(keyring, stored),
          after: null,
          perform: async () => ((await docs.remove({ _id: stored._id, rev: stored.rev }, 1)) === 1 ? stored : null),
        }
      })
    },
  }),
]

/** Members are compared as a whole, as a PUT replaces them. */
function refuseOthersChange(
  keyring: Keyring,
  stored: Provider | undefined,
  replaces: z.output<typeof replacedProvider> | null,
): void {
  if (replaces === null) {
    if (stored === undefined) return
    throw httpException(409, 'A provider of this name was added meanwhile.')
  }
  const now = stored && providerView(keyring, stored, [])
  const names = Object.keys(replaces) as (keyof typeof replaces)[]
  if (now && names.every(name => sameJson(replaces[name], now[name]))) return
  throw httpException(409, 'The provider was changed or deleted meanwhile. Read it again.')
}

/** The providers of the channel that move by one, so that none has the place that another is given: the one that has
 *  it, and those that follow without a gap. `all`: in their order. One of a type that this release does not know keeps
 *  its place: no message goes through it. */
function makeRoom(all: readonly Provider[], { _id, channel, position }: Provider): Provider[] {
  let free = position + 1
  const moved: Provider[] = []
  for (const other of all) {
    if (other._id === _id || other.channel !== channel || other.position < position || !isProviderType(other.type))
      continue
    if (other.position >= free) break
    moved.push({ ...other, position: free })
    free += 1
  }
  return moved
}

async function writeProvider({ store }: AdminDeps, stored: Provider | undefined, next: Provider): Promise<boolean> {
  const docs = store.docs('providers')
  if (!stored) return (await docs.insert([next]))[0] === 'inserted'
  const { channel, type, position, paused, countries, cost_micros, config } = next
  const update = { $set: { channel, type, position, paused, countries, cost_micros, config } }
  return changeOne(docs, { _id: next._id, rev: stored.rev, update })
}

/** Refuses with `problem` if no other provider sends them: then only operators could sign in. */
async function requireSignInMails(
  store: CountersignStore,
  { _id, app_id, channel, type, paused }: Provider,
  problem: InputProblem,
): Promise<void> {
  if (app_id !== CONSOLE_APP_ID || channel !== 'email' || paused || !isProviderType(type)) return
  const others = (await findKnownProviders(store, app_id)).filter(one => one._id !== _id && one.channel === 'email')
  if (others.some(one => !one.paused)) return
  throw validationProblem([problem])
}

const UNCONFIRMED = {
  pause: {
    path: 'paused',
    message:
      'would leave no provider for sign-in codes, so nobody could sign in by email: confirm it with "confirm": true',
  },
  delete: {
    path: 'confirm',
    message: 'must be true: no other provider sends sign-in codes, so nobody could sign in by email',
  },
}

async function checkChannelAndAddress(
  inspect: TargetInspector,
  { type, channel, config }: ProviderInput,
): Promise<void> {
  const problems: InputProblem[] = [...channelProblems('channel', type, channel)]
  const address = addressIn(type, config)
  const refusal = address && (await inspect[address.kind](address.value))
  if (address && refusal !== null) problems.push({ path: `config.${address.path}`, message: targetProblem(refusal) })
  if (problems.length > 0) throw validationProblem(problems)
}

function configOf(keyring: Fingerprinter, { type, config }: ProviderInput, before: StoredConfig | null): unknown {
  const checked = applyConfigChange(keyring, type, config === undefined ? {} : config, before)
  if (!checked.ok) throw validationProblem(underPath('config', checked.problems))
  return checked.value
}

/** For a type with several channels, checkChannelAndAddress has required one. */
const channelOf = ({ type, channel }: ProviderInput): Provider['channel'] => channel ?? soleChannel(type) ?? 'sms'
