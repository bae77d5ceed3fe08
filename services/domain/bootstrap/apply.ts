// In: a bootstrap file without problems or conflicts. Out: the store as the file says, and what was made on the way.
// Each step finds out what is missing and writes only that, so it can be done twice, by several at once, and after a crash anywhere.
// Keys come last: what is shown only once is made when nothing else can fail any more. Should an answer of the store be lost all the
// same, `made` remembers what was made, so that the next try can still show it.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Inspector } from '../../../infra/outbound/inspector.ts'
import { ensure, replaceAll, sameJson } from '../../../infra/store/ensure.ts'
import { replaceBootstrapLists } from '../address-lists/bootstrap.ts'
import type { CountersignStore } from '../collections.ts'
import { openAccount } from '../money/batches.ts'
import { hashApiKey, newApiKey } from '../tenancy/api-keys.ts'
import { providerContext, providerId } from '../tenancy/documents.ts'
import { type WebhookSecret, webhookSecretContext } from '../webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret } from '../webhooks/new-secret.ts'
import { withCurrent } from '../webhooks/secrets.ts'
import type { Bootstrap, BootstrapApp, BootstrapCompany, BootstrapProvider, BootstrapWebhook } from './file.ts'

export interface BootstrapDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'seal' | 'unseal'>
  clock: Pick<Clock, 'now'>
  /** What the guard would say of an address that is to be saved; without one nobody is asked. */
  inspect?: Inspector
  /** Values made by an earlier try, by what they are for. The same map is given to every try. */
  made?: Map<string, string>
}

export interface MintedSecrets {
  /** Keys the file gave no value for. Only their hashes are stored: shown now or never. */
  mintedKeys: { id: string; key: string }[]
  /** Signing secrets of new endpoints the file gave none for. */
  mintedSecrets: { app_id: string; secret: string }[]
}

export async function writeBootstrap(
  file: Bootstrap,
  { made = new Map(), ...engines }: BootstrapDeps,
): Promise<MintedSecrets> {
  const deps = { ...engines, made }
  const mintedSecrets: MintedSecrets['mintedSecrets'] = []
  for (const company of file.companies) {
    await ensureCompany(company, deps)
    for (const app of company.apps) await ensureApp(app, company.id, deps)
  }
  const apps = file.companies.flatMap(company => company.apps)
  for (const app of apps) if (app.providers) await ensureProviders(app.id, app.providers, deps)
  if (file.prices) await replaceAll(deps.store.docs('prices'), file.prices, priceUpdate)
  if (file.ip_lists) await replaceBootstrapLists(file.ip_lists, deps)
  for (const app of apps) {
    const secret = app.webhook && (await ensureWebhook(app.id, app.webhook, deps))
    if (secret) mintedSecrets.push({ app_id: app.id, secret })
  }
  return { mintedKeys: await ensureKeys(file, deps), mintedSecrets }
}

type BootstrapRun = BootstrapDeps & Required<Pick<BootstrapDeps, 'made'>>

/** The value made for this earlier, or a new one. */
function mintOnce(what: string, { made }: BootstrapRun, make: () => string): string {
  const value = made.get(what) ?? make()
  made.set(what, value)
  return value
}

const ensureCompany = ({ id, name, balance }: BootstrapCompany, { store, clock }: BootstrapDeps) =>
  ensure(store.docs('companies'), id, {
    create: () => {
      const now = clock.now()
      return { _id: id, name: name ?? id, ...openAccount(id, balance, now), created_at: now, rev: 0 }
    },
    update: stored => (name === null || name === stored.name ? null : { $set: { name } }),
  })

const ensureApp = ({ id, name, settings }: BootstrapApp, companyId: string, { store, clock }: BootstrapDeps) =>
  ensure(store.docs('apps'), id, {
    create: () => ({
      _id: id,
      company_id: companyId,
      name: name ?? id,
      settings: settings ?? {},
      created_at: clock.now(),
      rev: 0,
    }),
    update: stored => {
      const changed = {
        ...(name === null || name === stored.name ? {} : { name }),
        ...(settings === null || sameJson(settings, stored.settings) ? {} : { settings }),
      }
      return Object.keys(changed).length === 0 ? null : { $set: changed }
    },
  })

async function ensureProviders(
  appId: string,
  fromFile: readonly BootstrapProvider[],
  { store, keyring }: BootstrapDeps,
) {
  const docs = store.docs('providers')
  for (const [position, { name, channel, type, config }] of fromFile.entries()) {
    const id = providerId(appId, name)
    const sealed = () => keyring.seal(JSON.stringify(config), providerContext(id))
    // One that does not open is written anew.
    const opened = (stored: string) => JSON.parse(unsealOrNull(keyring, stored, providerContext(id)) ?? 'null')
    await ensure(docs, id, {
      create: () => ({ _id: id, app_id: appId, name, channel, type, position, config: sealed(), rev: 0 }),
      update: stored => {
        const same = sameJson(opened(stored.config), config)
        const inPlace = stored.channel === channel && stored.type === type && stored.position === position
        return same && inPlace ? null : { $set: { channel, type, position, ...(same ? {} : { config: sealed() }) } }
      },
    })
  }
  const listed = new Set(fromFile.map(({ name }) => providerId(appId, name)))
  const stored = await docs.find({ app_id: appId }, { sort: { position: 1, _id: 1 }, limit: MAX_PROVIDERS })
  const removedIds = stored.flatMap(({ _id }) => (listed.has(_id) ? [] : _id))
  if (removedIds.length > 0) await docs.remove({ _id: { $in: removedIds } }, removedIds.length)
}

const MAX_PROVIDERS = 1_000

const priceUpdate = (stored: { micros: number }, { micros }: { micros: number }) =>
  stored.micros === micros ? null : { $set: { micros } }

/** Answers the secret it had to make. */
async function ensureWebhook(
  appId: string,
  { url, secret }: BootstrapWebhook,
  deps: BootstrapRun,
): Promise<string | null> {
  const { store, keyring, clock } = deps
  const opened = ({ id, sealed }: WebhookSecret) => unsealOrNull(keyring, sealed, webhookSecretContext(appId, id))
  const current = (value: string): WebhookSecret =>
    createWebhookSecret(keyring, value, { app_id: appId, state: 'current', now: clock.now() })
  const triedBefore = deps.made.has(appId)
  const value = secret ?? mintOnce(appId, deps, newWebhookSecret)
  const isCurrent = (stored: WebhookSecret[]) => stored.some(one => one.state === 'current' && opened(one) === value)
  let isOurs = false
  const outcome = await ensure(store.docs('webhooks'), appId, {
    create: () => ({ _id: appId, url, status: 'active', secrets: [current(value)], rev: 0 }),
    update: stored => {
      isOurs = secret === null && triedBefore && isCurrent(stored.secrets)
      if (secret === null || isCurrent(stored.secrets)) return url === stored.url ? null : { $set: { url } }
      const next = stored.secrets.find(one => opened(one) === secret) ?? current(secret)
      return { $set: { url, secrets: withCurrent(stored.secrets, next, clock.now()) } }
    },
  })
  return secret === null && (outcome === 'created' || isOurs) ? value : null
}

/** All in one insert. A key someone else made meanwhile is theirs to show. */
async function ensureKeys(file: Bootstrap, deps: BootstrapRun): Promise<MintedSecrets['mintedKeys']> {
  const docs = deps.store.docs('keys')
  const listed = file.companies.flatMap(company =>
    company.apps.flatMap(app => app.keys.map(fromFile => ({ fromFile, app_id: app.id, company_id: company.id }))),
  )
  const stored = await docs.get(listed.map(({ fromFile }) => fromFile.id))
  const wanted = listed
    .filter(({ fromFile: { id, key } }) => !stored.has(id) || (key === null && deps.made.has(id)))
    .map(({ fromFile, ...owner }) => ({
      ...owner,
      fromFile,
      value: fromFile.key ?? mintOnce(fromFile.id, deps, () => newApiKey(fromFile.kind, fromFile.mode)),
    }))
  if (wanted.length === 0) return []
  const outcomes = await docs.insert(
    wanted.map(({ fromFile: { id, kind, mode }, value, app_id, company_id }) => ({
      _id: id,
      app_id,
      company_id,
      kind,
      mode,
      hash: hashApiKey(value),
      created_at: deps.clock.now(),
      revoked_at: null,
    })),
  )
  const duplicateIds = wanted.filter((_, at) => outcomes[at] === 'duplicate').map(({ fromFile }) => fromFile.id)
  const existing = await docs.get(duplicateIds)
  for (const id of duplicateIds)
    if (!existing.has(id)) throw new Error(`${id} was not made: its value became another key's`)
  const isOurs = (id: string, value: string) => !existing.has(id) || existing.get(id)?.hash === hashApiKey(value)
  return wanted.flatMap(({ fromFile: { id, key }, value }) =>
    key === null && isOurs(id, value) ? [{ id, key: value }] : [],
  )
}
