// What the actor needs to know of an app, a few seconds old at most.
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { CHANNELS, type Channel } from '../../machines/channels.ts'
import type { Mode } from '../../machines/otp.ts'
import type { Tenancy, TenantApp, UnreadableProvider } from '../domain/tenancy/tenancy.ts'

export interface KnownApp extends TenantApp {
  /** Channels with a provider; in test mode the sandbox is everyone's. */
  provided(mode: Mode): readonly Channel[]
  /** In live mode, why channels that have a provider are none of those: its key is missing. */
  unreadable: readonly UnreadableProvider[]
}

const FOR_MS = 5_000
const MOST = 10_000

export function knownApps({ tenancy, clock }: { tenancy: Pick<Tenancy, 'app' | 'setups'>; clock: Clock }) {
  const load = async (id: string): Promise<KnownApp | null> => {
    const [app, { providers, unreadable }] = await Promise.all([tenancy.app(id), tenancy.setups(id)])
    if (!app) return null
    const live = CHANNELS.filter(channel => providers.some(provider => provider.channel === channel))
    return { ...app, provided: mode => (mode === 'test' ? CHANNELS : live), unreadable }
  }
  return cached(load, { forMs: FOR_MS, most: MOST, clock })
}
