// Which providers may send a delivery. In: a delivery job. Out: providers in the order to try them; for a test key, the sandbox alone.
// A provider is built once and kept while its setup stays the same, because it may hold connections.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Channel } from '../../machines/channels.ts'
import { mayBeUsed, type ProviderScope } from '../../machines/routing.ts'
import { TENANT_CACHE, type Tenancy, type TenantProvider, type UnreadableProvider } from '../domain/tenancy/tenancy.ts'
import type { DeliveryJob, Provider } from './provider.ts'
import type { BuildProvider, BuiltProvider } from './providers/factories.ts'

export type Candidate = BuiltProvider & Omit<ProviderScope, 'channel'> & Pick<TenantProvider, 'cost_micros'>

/** A candidate that may not be called may have been called before, and its receipts count. */
export const mayCall = (candidate: Omit<ProviderScope, 'channel'>, { otp }: Pick<DeliveryJob, 'otp'>): boolean =>
  mayBeUsed(candidate, otp.recipient.country)

export interface CandidateDeps {
  channel: Channel
  tenancy: Pick<Tenancy, 'providersOf' | 'isCompanyClosed'>
  sandbox: Provider
  buildProvider: BuildProvider
  /** Called when a provider's setup has changed, or when the provider was removed. */
  onReplaced(app_id: string, name: string): void
  clock: Clock
}

export interface Candidates {
  /** Also those that may not be called: `mayCall` tells. */
  of(job: DeliveryJob): Promise<readonly Candidate[]>
  /** All providers of an app on this channel that are not paused; none for a closed company. */
  ofApp(app_id: string): Promise<readonly Candidate[]>
  /** Rejects when the only providers that may be called have configs that cannot be unsealed: the delivery then waits for the key. */
  throwIfKeyMissing(job: DeliveryJob): Promise<void>
  close(): void
}

interface AppProviders {
  candidates: readonly Candidate[]
  unreadable: readonly UnreadableProvider[]
}

interface KeptProvider {
  /** The setup it was built from, as JSON. */
  setup: string
  built: BuiltProvider
}

export function createCandidates({
  channel,
  tenancy,
  sandbox,
  buildProvider,
  onReplaced,
  clock,
}: CandidateDeps): Candidates {
  const sandboxOnly: readonly Candidate[] = [
    {
      name: 'sandbox',
      type: 'sandbox',
      provider: sandbox,
      secrets: null,
      paused: false,
      countries: null,
      cost_micros: {},
    },
  ]
  const builtByApp = new Map<string, KeptProvider[]>()

  async function load(app_id: string): Promise<AppProviders> {
    const { providers: setups, unreadable } = await tenancy.providersOf(app_id, channel)
    const previous = builtByApp.get(app_id) ?? []
    const current: (KeptProvider & { candidate: Candidate })[] = setups.map(setup => {
      // A provider that is paused, resumed or given another cost keeps its connections, and what was learned about it.
      const { paused, countries, cost_micros, ...built } = setup
      const text = JSON.stringify(built)
      const one = previous.find(({ setup }) => setup === text) ?? { setup: text, built: build(setup) }
      return { ...one, candidate: { ...one.built, paused, countries, cost_micros } }
    })
    builtByApp.delete(app_id)
    builtByApp.set(app_id, current)
    for (const { built } of previous.filter(one => !current.some(({ built }) => built === one.built))) {
      built.provider.close?.()
      onReplaced(app_id, built.name)
    }
    if (builtByApp.size > TENANT_CACHE.maxSize) closeProviders(builtByApp.keys().next().value as string)
    return { candidates: current.map(({ candidate }) => candidate), unreadable }
  }

  const build = (setup: TenantProvider): BuiltProvider =>
    setup.type === 'sandbox'
      ? { name: setup.name, type: setup.type, provider: sandbox, secrets: null }
      : buildProvider(setup)

  function closeProviders(app_id: string): void {
    for (const { built } of builtByApp.get(app_id) ?? []) built.provider.close?.()
    builtByApp.delete(app_id)
  }

  const liveProviders = createCache(load, { ...TENANT_CACHE, clock })
  const companyClosed = createCache(tenancy.isCompanyClosed, { ...TENANT_CACHE, clock })

  return {
    async ofApp(app_id) {
      const [isClosed, { candidates }] = await Promise.all([companyClosed.get(app_id), liveProviders.get(app_id)])
      return isClosed ? [] : candidates.filter(({ paused }) => !paused)
    },
    async throwIfKeyMissing(job) {
      const { mode, app_id } = job.otp
      if (mode === 'test' || (await companyClosed.get(app_id))) return
      const { candidates, unreadable } = await liveProviders.get(app_id)
      const missing = unreadable.find(one => mayCall(one, job))
      if (missing && !candidates.some(one => mayCall(one, job))) throw missing.problem
    },
    async of(job) {
      const { mode, app_id } = job.otp
      const [isClosed, all] = await Promise.all([
        companyClosed.get(app_id),
        mode === 'test' ? sandboxOnly : liveProviders.get(app_id).then(({ candidates }) => candidates),
      ])
      // What is still to be sent fails as if all providers were paused, so the receipts of earlier calls are waited for.
      if (isClosed) return all.map(candidate => ({ ...candidate, paused: true }))
      const does = job.delivery.writer === undefined ? 'reply' : 'askForContact'
      const canReply = isChatReply(job) ? all.filter(({ provider }) => provider[does]) : []
      return canReply.some(one => mayCall(one, job)) ? canReply : all
    },
    close() {
      for (const app_id of [...builtByApp.keys()]) closeProviders(app_id)
    },
  }
}

/** In WhatsApp's link modes the user writes first, and every message of ours is a reply in that chat. */
export const isChatReply = ({ otp, delivery }: DeliveryJob): boolean =>
  delivery.channel === 'whatsapp' && otp.whatsapp !== 'template'
