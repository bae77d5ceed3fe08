// Which providers may carry a delivery, in the order to try them. A test key's messages go to the sandbox and nowhere else.
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log.ts'
import type { ProviderType } from '../../infra/tenancy/providers.ts'
import type { Tenancy, TenantProvider } from '../../infra/tenancy/tenancy.ts'
import type { Channel } from '../../machines/channels.ts'
import type { Candidate } from './attempt.ts'
import type { Errand, Provider } from './provider.ts'

/** The types of provider that are built, each made from an app's setup of it. */
export type Makers = { readonly [T in ProviderType]?: (setup: Extract<TenantProvider, { type: T }>) => Provider }

export interface CandidateParts {
  channel: Channel
  tenancy: Pick<Tenancy, 'providers'>
  sandbox: Provider
  makers: Makers
  clock: Clock
  log: Logger
}

export type FindCandidates = (errand: Errand) => Promise<readonly Candidate[]>

/** Changed or removed providers are noticed within this. */
const FOR_MS = 5_000
const MOST = 10_000

export function choosing({ channel, tenancy, sandbox, makers, clock, log }: CandidateParts): FindCandidates {
  const inbox: readonly Candidate[] = [{ name: 'sandbox', provider: sandbox }]

  const made = <T extends ProviderType>(setup: Extract<TenantProvider, { type: T }>): Candidate[] => {
    const make: Makers[T] = makers[setup.type as T]
    if (make) return [{ name: setup.name, provider: make(setup) }]
    const { app_id, name, type } = setup
    log.warn({ app_id, channel, provider: name, type }, 'provider.not_built')
    return []
  }
  const live = cached(async app_id => (await tenancy.providers(app_id, channel)).flatMap(setup => made(setup)), {
    ...{ forMs: FOR_MS, most: MOST, clock },
  })

  return async ({ otp }) => (otp.mode === 'test' ? inbox : live.get(otp.app_id))
}
