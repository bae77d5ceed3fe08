// GET /apps/{id}/providers, GET|PUT|DELETE /apps/{id}/providers/{name}. Secrets are never shown, only their fingerprints. A PUT keeps the
// secrets that it omits, as long as the provider's address stays the same. Without a config it keeps the stored one as it is.
import { z } from 'zod'
import { type TargetInspector, targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { findBreakers } from '../../domain/breakers/documents.ts'
import { findProviders, type Provider, providerContext, providerId } from '../../domain/tenancy/documents.ts'
import type { Fingerprinter } from '../../domain/tenancy/fingerprint.ts'
import { check, type InputProblem, underPath } from '../../domain/tenancy/problems.ts'
import { addressIn } from '../../domain/tenancy/provider-destinations.ts'
import { channelProblems, MAX_PROVIDERS_PER_APP, providerName, soleChannel } from '../../domain/tenancy/providers.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { getOr404, validationProblem } from '../request-input.ts'
import { applyConfigChange, type StoredConfig } from './changes.ts'
import { providerType } from './schemas.ts'
import { providerAuditFields, providerView, unsealConfig, withoutConfig } from './view.ts'

const MAX_POSITION = 10_000

export const providerBody = z.strictObject({
  type: providerType,
  channel: channel.optional(),
  /** Providers are tried in the order of positions, then of names. A new provider without a position is the last. */
  position: z.int().min(0).max(MAX_POSITION).optional(),
  config: z.unknown().optional(),
})
type ProviderInput = z.output<typeof providerBody>

export const addProviderRoutes: AddRoutes = (router, { store, keyring, clock, inspect, readBody, withAudit }) => {
  const [docs, apps] = [store.docs('providers'), store.docs('apps')]

  const breakersOf = (app_id: string) => findBreakers(store, app_id, clock.now())

  router.get('/apps/:id/providers', async ctx => {
    const { _id: app_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const [providers, breakers] = await Promise.all([findProviders(store, app_id), breakersOf(app_id)])
    const items = providers.map(provider => providerView(keyring, provider, breakers))
    ctx.body = { items, next_cursor: null }
  })

  router.get('/apps/:id/providers/:name', async ctx => {
    const { _id: app_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const provider = await getOr404(ctx, docs, providerId(app_id, ctx.params.name ?? ''), 'provider')
    ctx.body = providerView(keyring, provider, await breakersOf(app_id))
  })

  router.put('/apps/:id/providers/:name', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const { name = '' } = ctx.params
    const checkedName = check(providerName, name)
    if (!checkedName.ok) throw validationProblem(underPath('name', checkedName.problems))
    const input = await readBody(ctx, providerBody)
    await checkChannelAndAddress(inspect, input)
    const answer = await withAudit(ctx, async () => {
      const _id = providerId(app_id, name)
      const stored = (await docs.get([_id])).get(_id)
      const others = stored ? [] : await findProviders(store, app_id)
      if (others.length >= MAX_PROVIDERS_PER_APP)
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
        position: input.position ?? stored?.position ?? (others.at(-1)?.position ?? -1) + 1,
        config: kept ?? keyring.seal(JSON.stringify(config), providerContext(_id)),
      }
      const sameConfig = kept !== undefined || (before !== null && sameJson(before.raw, config))
      if (stored && sameConfig && sameJson(withoutConfig(stored), withoutConfig(next)))
        return { unchanged: { created: false, provider: stored } }
      return {
        action: stored ? 'provider.change' : 'provider.create',
        target: _id,
        company_id,
        before: stored ? providerAuditFields(keyring, stored) : null,
        after: providerAuditFields(keyring, next),
        perform: async () => ((await writeProvider(stored, next)) ? { created: !stored, provider: next } : null),
      }
    })
    ctx.status = answer.created ? 201 : 200
    ctx.body = providerView(keyring, answer.provider, await breakersOf(app_id))
  })

  router.delete('/apps/:id/providers/:name', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    await withAudit(ctx, async () => {
      const stored = await getOr404(ctx, docs, providerId(app_id, ctx.params.name ?? ''), 'provider')
      return {
        action: 'provider.delete',
        target: stored._id,
        company_id,
        before: providerAuditFields(keyring, stored),
        after: null,
        perform: async () => ((await docs.remove({ _id: stored._id, rev: stored.rev }, 1)) === 1 ? stored : null),
      }
    })
    ctx.status = 204
  })

  async function writeProvider(stored: Provider | undefined, next: Provider): Promise<boolean> {
    if (!stored) return (await docs.insert([next]))[0] === 'inserted'
    const { channel, type, position, config } = next
    const update = { $set: { channel, type, position, config } }
    return (await docs.change([{ _id: next._id, rev: stored.rev, update }]))[0] === 'won'
  }
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
