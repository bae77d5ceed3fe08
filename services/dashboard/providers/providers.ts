// GET /apps/{id}/providers, GET|PUT|DELETE /apps/{id}/providers/{name}. Secrets go in and never come out: people read fingerprints.
// What a PUT leaves out of the secrets stays, as long as the provider's address does.
import { z } from 'zod'
import { type Inspector, notCalled } from '../../../infra/outbound/inspect.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { soleChannel } from '../../domain/bootstrap/file.ts'
import { channelProblems } from '../../domain/bootstrap/rules.ts'
import { type Provider, providerContext, providerId } from '../../domain/tenancy/documents.ts'
import { below, type Problem } from '../../domain/tenancy/problems.ts'
import { addressIn } from '../../domain/tenancy/provider.destinations.ts'
import { PROVIDER_NAME, PROVIDER_TYPES } from '../../domain/tenancy/providers.ts'
import { channel } from '../../domain/tenancy/shapes.ts'
import type { Resource } from '../admin.ts'
import { found, invalid } from '../requests.ts'
import { changedConfig, type StoredConfig } from './changes.ts'
import { openedConfig, placeOf, recordedProvider, shownProvider } from './shown.ts'

const MOST = 100
const HIGHEST = 10_000

const given = z.strictObject({
  type: z.enum(PROVIDER_TYPES),
  channel: channel.optional(),
  /** Lower ones are tried first, equal ones in the order of their names. A new one is the last, unless told. */
  position: z.int().min(0).max(HIGHEST).optional(),
  config: z.unknown().optional(),
})
type Given = z.output<typeof given>

const NAMED = 'must be 1 to 63 of a–z, 0–9, "-" and "_", the first a letter or digit'

export const providers: Resource = (router, { store, keyring, inspect, body, audited }) => {
  const [docs, apps] = [store.docs('providers'), store.docs('apps')]
  const inOrder = (app_id: string) => docs.find({ app_id }, { sort: { position: 1, _id: 1 }, limit: HIGHEST })

  router.get('/apps/:id/providers', async ctx => {
    const { _id: app_id } = await found(apps, ctx.params.id, 'app')
    const items = (await inOrder(app_id)).map(provider => shownProvider(keyring, provider))
    ctx.body = { items, next_cursor: null }
  })

  router.get('/apps/:id/providers/:name', async ctx => {
    const { _id: app_id } = await found(apps, ctx.params.id, 'app')
    ctx.body = shownProvider(keyring, await found(docs, providerId(app_id, ctx.params.name ?? ''), 'provider'))
  })

  router.put('/apps/:id/providers/:name', async ctx => {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    const { name = '' } = ctx.params
    if (!PROVIDER_NAME.test(name)) throw invalid([{ path: 'name', message: NAMED }])
    const wish = await body(ctx, given)
    await refuseMisplaced(inspect, wish)
    const answer = await audited(ctx, async () => {
      const _id = providerId(app_id, name)
      const stored = (await docs.get([_id])).get(_id)
      const others = stored ? [] : await inOrder(app_id)
      if (others.length >= MOST) throw invalid([{ path: '', message: `an app has at most ${MOST} providers` }])
      const before = stored?.type === wish.type ? openedConfig(keyring, stored) : null
      const config = configOf(wish, before)
      const next: Provider = {
        ...{ _id, app_id, name, type: wish.type, channel: channelOf(wish), rev: stored ? stored.rev + 1 : 0 },
        position: wish.position ?? stored?.position ?? (others.at(-1)?.position ?? -1) + 1,
        config: keyring.seal(JSON.stringify(config), providerContext(_id)),
      }
      if (stored && before && sameJson(placeOf(stored), placeOf(next)) && sameJson(before.written, config))
        return { unchanged: { created: false, provider: stored } }
      return {
        ...{ action: stored ? 'provider.change' : 'provider.create', target: _id, company_id },
        before: stored ? recordedProvider(keyring, stored) : null,
        after: recordedProvider(keyring, next),
        perform: async () => ((await written(stored, next)) ? { created: !stored, provider: next } : null),
      }
    })
    ctx.status = answer.created ? 201 : 200
    ctx.body = shownProvider(keyring, answer.provider)
  })

  router.delete('/apps/:id/providers/:name', async ctx => {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    await audited(ctx, async () => {
      const stored = await found(docs, providerId(app_id, ctx.params.name ?? ''), 'provider')
      return {
        ...{ action: 'provider.delete', target: stored._id, company_id },
        ...{ before: recordedProvider(keyring, stored), after: null },
        perform: async () => ((await docs.remove({ _id: stored._id, rev: stored.rev }, 1)) === 1 ? stored : null),
      }
    })
    ctx.status = 204
  })

  async function written(stored: Provider | undefined, next: Provider): Promise<boolean> {
    if (!stored) return (await docs.insert([next]))[0] === 'inserted'
    const { channel, type, position, config } = next
    const update = { $set: { channel, type, position, config } }
    return (await docs.change([{ _id: next._id, rev: stored.rev, update }]))[0] === 'won'
  }
}

/** A channel the type does not serve, an address nobody would be called at. */
async function refuseMisplaced(inspect: Inspector, { type, channel, config }: Given): Promise<void> {
  const problems: Problem[] = [...channelProblems('channel', type, channel)]
  const address = addressIn(type, config)
  const refusal = address && (await inspect[address.kind](address.value))
  if (address && refusal !== null) problems.push({ path: `config.${address.path}`, message: notCalled(refusal) })
  if (problems.length > 0) throw invalid(problems)
}

function configOf({ type, config }: Given, before: StoredConfig | null): unknown {
  const checked = changedConfig(type, config === undefined ? {} : config, before)
  if (!checked.ok) throw invalid(below('config', checked.problems))
  return checked.value
}

/** Where the type serves several, it was asked for. */
const channelOf = ({ type, channel }: Given): Provider['channel'] => channel ?? soleChannel(type) ?? 'sms'
