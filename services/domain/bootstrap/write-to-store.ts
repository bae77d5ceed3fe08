// In: a bootstrap file without problems or conflicts. Out: the store as the file says, and the keys and secrets that were made for it.
// Each step reads what is stored and writes only the difference, so that the whole can be repeated, run by several processes at once and
// resumed after a crash. Keys are written last, because their values are shown once and a later failure would lose them. If the store's
// answer to that write is lost, `minted` still holds the values for the next try.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { TargetInspector } from '../../../infra/outbound/target-inspector.ts'
import { ensure, sameJson } from '../../../infra/store/ensure.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { MODES } from '../../../machines/otp.ts'
import { replaceBootstrapLists } from '../address-lists/bootstrap-lists.ts'
import type { CountersignStore } from '../collections.ts'
import { openAccount } from '../money/batches.ts'
import { type Price, readPrices, savePrices, sortPrices } from '../money/prices.ts'
import { hashApiKey, keyDocument, newApiKey } from '../tenancy/api-keys.ts'
import { challengeSecretChange, challengeSecretProblems, withoutChallengeSecret } from '../tenancy/challenge-secret.ts'
import { type App, findProviders, providerContext, providerId } from '../tenancy/documents.ts'
import { openHookSecret, sealHookSecret } from '../tenancy/hook-secrets.ts'
import { lowBalanceMembers, withLowBalance } from '../tenancy/low-balance.ts'
import { storedSettings } from '../tenancy/pending-retention.ts'
import { type WebhookEndpoint, type WebhookSecret, webhookSecretContext } from '../webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret, withCurrent } from '../webhooks/secrets.ts'
import type { Bootstrap, BootstrapApp, BootstrapCompany, BootstrapProvider, BootstrapWebhook } from './complete-file.ts'

export interface BootstrapDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'index'>
  clock: Pick<Clock, 'now'>
  /** The outbound guard's opinion of an address that is to be saved. Without it addresses are not checked. */
  inspect?: TargetInspector
  /** Whether a key without a value gets one, which is then printed. Default: yes. */
  mayMint?: boolean
  /** Values made by earlier tries of this process, by key id or app id. Every try gets the same map. */
  minted?: Map<string, string>
}

export interface MintedSecrets {
  /** Keys without a value in the file. Only their hashes are stored, so they can be shown only now. */
  mintedKeys: { id: string; key: string }[]
  /** Signing secrets of new endpoints without a secret in the file. */
  mintedSecrets: { app_id: string; secret: string }[]
}

export async function writeBootstrap(
  file: Bootstrap,
  { minted = new Map(), ...rest }: BootstrapDeps,
): Promise<MintedSecrets> {
  const deps: BootstrapRun = { ...rest, minted }
  const mintedSecrets: MintedSecrets['mintedSecrets'] = []
  for (const company of file.companies) {
    await ensureCompany(company, deps)
    for (const app of company.apps) await ensureApp(app, company.id, deps)
  }
  const apps = file.companies.flatMap(company => company.apps)
  for (const app of apps) if (app.providers) await ensureProviders(app.id, app.providers, deps)
  if (file.prices) await ensurePrices(file.prices, deps)
  if (file.ip_lists) await replaceBootstrapLists(file.ip_lists, deps)
  for (const app of apps) {
    const secret = app.webhook && (await ensureWebhook(app.id, app.webhook, deps))
    if (secret) mintedSecrets.push({ app_id: app.id, secret })
  }
  return { mintedKeys: await ensureKeys(file, deps), mintedSecrets }
}

const ensurePrices = (prices: readonly Price[], { store }: BootstrapDeps) =>
  retryAfterLostRace('the prices', async () => {
    const [docs, wanted] = [store.docs('prices'), sortPrices(prices)]
    const stored = await readPrices(docs)
    if (sameJson(stored?.prices ?? [], wanted)) return 'unchanged'
    return (await savePrices(docs, stored, wanted)) ? 'changed' : LOST
  })

type BootstrapRun = BootstrapDeps & Required<Pick<BootstrapDeps, 'minted'>>

/** The value an earlier try made for this id, or a new one. */
function mintOnce(id: string, { minted }: BootstrapRun, mint: () => string): string {
  const value = minted.get(id) ?? mint()
  minted.set(id, value)
  return value
}

const ensureCompany = ({ id, name, balance, low_balance_micros }: BootstrapCompany, { store, clock }: BootstrapDeps) =>
  ensure(store.docs('companies'), id, {
    create: () => {
      const now = clock.now()
      return {
        _id: id,
        name: name ?? id,
        ...openAccount(id, balance, now),
        ...lowBalanceMembers(low_balance_micros ?? null),
        created_at: now,
        rev: 0,
      }
    },
    update: stored => {
      const before = { name: stored.name, threshold: stored.low_balance_micros ?? null }
      const wanted = {
        name: name ?? before.name,
        threshold: low_balance_micros === undefined ? before.threshold : low_balance_micros,
      }
      return sameJson(wanted, before) ? null : withLowBalance({ name: wanted.name }, wanted.threshold)
    },
  })

const ensureApp = (app: BootstrapApp, companyId: string, { store, keyring, clock }: BootstrapDeps) => {
  const { id, name } = app
  const { settings, secret } = withoutChallengeSecret(keyring, app.settings ?? {})
  const secretChange = (before: App['settings']) => {
    if (app.settings === null) return {}
    const [problem] = challengeSecretProblems(before, settings, secret)
    if (problem) throw new Error(`${id}: ${problem.path} ${problem.message}`)
    return challengeSecretChange(keyring, id, { before, after: settings, secret })
  }
  return ensure<App>(store.docs('apps'), id, {
    create: () => ({
      _id: id,
      company_id: companyId,
      name: name ?? id,
      settings,
      ...secretChange({}),
      ...hookSecretChange(app, undefined, keyring),
      created_at: clock.now(),
      rev: 0,
    }),
    update: stored => {
      const before = { settings: stored.settings, pending_retention: stored.pending_retention ?? null }
      const wanted = app.settings === null ? before : storedSettings(stored, settings, clock.now())
      const changed = {
        ...(name === null || name === stored.name ? {} : { name }),
        ...(sameJson(wanted, before) ? {} : wanted),
        ...secretChange(stored.settings),
        ...hookSecretChange(app, stored.hook_secrets, keyring),
      }
      return Object.keys(changed).length === 0 ? null : { $set: changed }
    },
  })
}

/** Sealed anew only where the file's secrets are others: every sealing gives another text. */
function hookSecretChange(
  { id: app_id, supabase }: BootstrapApp,
  stored: App['hook_secrets'] = {},
  keyring: BootstrapDeps['keyring'],
): Pick<App, 'hook_secrets'> {
  const login = 'supabase'
  const changed = MODES.flatMap(mode => {
    const secrets = supabase[mode]
    const place = { app_id, login, mode } as const
    const opened = (stored[login]?.[mode] ?? []).map(sealed => openHookSecret(keyring, sealed, place))
    if (secrets === undefined || sameJson(secrets, opened)) return []
    return [[mode, secrets.map(secret => sealHookSecret(keyring, secret, place))]]
  })
  if (changed.length === 0) return {}
  return { hook_secrets: { ...stored, [login]: { ...stored[login], ...Object.fromEntries(changed) } } }
}

async function ensureProviders(
  appId: string,
  fromFile: readonly BootstrapProvider[],
  { store, keyring }: BootstrapDeps,
) {
  const docs = store.docs('providers')
  for (const [position, { name, channel, type, countries, cost_micros, config }] of fromFile.entries()) {
    const id = providerId(appId, name)
    const sealed = () => keyring.seal(JSON.stringify(config), providerContext(id))
    // A config that cannot be unsealed counts as different, and is replaced by the file's.
    const opened = (stored: string) => JSON.parse(unsealOrNull(keyring, stored, providerContext(id)) ?? 'null')
    await ensure(docs, id, {
      create: () => ({
        _id: id,
        app_id: appId,
        name,
        channel,
        type,
        position,
        countries: countries ?? null,
        cost_micros: cost_micros ?? {},
        config: sealed(),
        rev: 0,
      }),
      // What the file does not name stays as it is stored. A pause is an operator's, and the file cannot end it.
      update: stored => {
        const same = sameJson(opened(stored.config), config)
        const before = {
          channel: stored.channel,
          type: stored.type,
          position: stored.position,
          countries: stored.countries ?? null,
          cost_micros: stored.cost_micros ?? {},
        }
        const wanted = {
          channel,
          type,
          position,
          countries: countries === undefined ? before.countries : countries,
          cost_micros: cost_micros ?? before.cost_micros,
        }
        const inPlace = sameJson(wanted, before)
        return same && inPlace ? null : { $set: { ...wanted, ...(same ? {} : { config: sealed() }) } }
      },
    })
  }
  const listed = new Set(fromFile.map(({ name }) => providerId(appId, name)))
  const stored = await findProviders(store, appId)
  const removedIds = stored.flatMap(({ _id }) => (listed.has(_id) ? [] : _id))
  if (removedIds.length > 0) await docs.remove({ _id: { $in: removedIds } }, removedIds.length)
}

/** The secret that this process made for the endpoint; null when the file has one, or the endpoint was there before. */
async function ensureWebhook(
  appId: string,
  { url, secret }: BootstrapWebhook,
  deps: BootstrapRun,
): Promise<string | null> {
  const { store, keyring, clock } = deps
  const opened = ({ id, sealed }: WebhookSecret) => unsealOrNull(keyring, sealed, webhookSecretContext(appId, id))
  const current = (value: string): WebhookSecret =>
    createWebhookSecret(keyring, value, { endpoint_id: appId, state: 'current', now: clock.now() })
  const triedBefore = deps.minted.has(appId)
  const value = secret ?? mintOnce(appId, deps, newWebhookSecret)
  const isCurrent = (stored: WebhookSecret[]) => stored.some(one => one.state === 'current' && opened(one) === value)
  let isOurs = false
  const outcome = await ensure(store.docs('webhooks'), appId, {
    create: (): WebhookEndpoint => ({ _id: appId, url, status: 'active', secrets: [current(value)], rev: 0 }),
    update: stored => {
      isOurs = secret === null && triedBefore && isCurrent(stored.secrets)
      // What the file lists is not deleted.
      const undelete = stored.deleted_at === undefined ? {} : { $unset: { deleted_at: true } as const }
      if (secret === null || isCurrent(stored.secrets))
        return url === stored.url && stored.deleted_at === undefined ? null : { $set: { url }, ...undelete }
      const next = stored.secrets.find(one => opened(one) === secret) ?? current(secret)
      return { $set: { url, secrets: withCurrent(stored.secrets, next, clock.now()) }, ...undelete }
    },
  })
  return secret === null && (outcome === 'created' || isOurs) ? value : null
}

/** Inserts all missing keys at once. A key that another process inserted first is shown by that process, not here. */
async function ensureKeys(file: Bootstrap, deps: BootstrapRun): Promise<MintedSecrets['mintedKeys']> {
  const docs = deps.store.docs('keys')
  const listed = file.companies.flatMap(company =>
    company.apps.flatMap(app => app.keys.map(fromFile => ({ fromFile, app_id: app.id, company_id: company.id }))),
  )
  const stored = await docs.get(listed.map(({ fromFile }) => fromFile.id))
  for (const { fromFile } of listed) {
    const { id, name } = fromFile
    const before = stored.get(id)
    if (before && name !== null && name !== before.name) await docs.modify({ _id: id }, { $set: { name } })
  }
  const wanted = listed
    .filter(({ fromFile: { id, key } }) => !stored.has(id) || (key === null && deps.minted.has(id)))
    .map(({ fromFile, ...owner }) => ({
      ...owner,
      fromFile,
      value: fromFile.key ?? mintOnce(fromFile.id, deps, () => newApiKey(fromFile.kind, fromFile.mode)),
    }))
  if (wanted.length === 0) return []
  const outcomes = await docs.insert(
    wanted.map(({ fromFile: { id, kind, mode, name }, value, app_id, company_id }) =>
      keyDocument(value, { _id: id, app_id, company_id, kind, mode, name, created_at: deps.clock.now() }),
    ),
  )
  const duplicateIds = wanted.filter((_, at) => outcomes[at] === 'duplicate').map(({ fromFile }) => fromFile.id)
  const existing = await docs.get(duplicateIds)
  for (const id of duplicateIds)
    if (!existing.has(id)) throw new Error(`${id} was not created: its value is another key's already`)
  const isOurs = (id: string, value: string) => !existing.has(id) || existing.get(id)?.hash === hashApiKey(value)
  return wanted.flatMap(({ fromFile: { id, key }, value }) =>
    key === null && isOurs(id, value) ? [{ id, key: value }] : [],
  )
}
