// What the actor needs to know of an app, a few seconds old at most.
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Tenancy, TenantApp } from '../../infra/tenancy/tenancy.ts'
import { CHANNELS, type Channel } from '../../machines/channels.ts'
import type { Mode } from '../../machines/otp.ts'

export interface KnownApp extends TenantApp {
  /** Channels with a provider; in test mode the sandbox is everyone's. */
  provided(mode: Mode): readonly Channel[]
}

const FOR_MS = 5_000
const MOST = 10_000

export function knownApps({ tenancy, clock }: { tenancy: Pick<Tenancy, 'app' | 'providers'>; clock: Clock }) {
  const load = async (id: string): Promise<KnownApp | null> => {
    const [app, providers] = await Promise.all([tenancy.app(id), tenancy.providers(id)])
    if (!app) return null
    const live = CHANNELS.filter(channel => providers.some(provider => provider.channel === channel))
    return { ...app, provided: mode => (mode === 'test' ? CHANNELS : live) }
  }
  return cached(load, { forMs: FOR_MS, most: MOST, clock })
}
