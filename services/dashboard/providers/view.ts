// A stored provider as the admin API and the audit log show it, with fingerprints in place of secrets; and its unsealed config.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { BreakerDoc } from '../../domain/breakers/documents.ts'
import { type Provider, providerContext, scopeOf } from '../../domain/tenancy/documents.ts'
import { maskConfig } from '../../domain/tenancy/provider-secrets.ts'
import { isProviderType } from '../../domain/tenancy/provider-types/list.ts'
import { resolveProvider } from '../../domain/tenancy/providers.ts'
import { breakerView } from './breaker-view.ts'
import type { StoredConfig } from './changes.ts'
import type { ProviderAnswer } from './schemas.ts'

export const withoutConfig = (provider: Provider) => {
  const { name, type, position, cost_micros = {} } = provider
  return { name, type, position, ...scopeOf(provider), cost_micros }
}

/** Null when its data key is no longer configured, and when this release does not know its type: then its secrets are not known either. */
export function unsealConfig(keyring: Pick<Keyring, 'unseal'>, { _id, type, config }: Provider): StoredConfig | null {
  const text = isProviderType(type) ? unsealOrNull(keyring, config, providerContext(_id)) : null
  if (text === null) return null
  const raw: unknown = JSON.parse(text)
  return { raw, resolved: resolveProvider(type, raw).config }
}

/** The config has its defaults. It was checked to be an object when it was stored. */
export function providerView(
  keyring: Pick<Keyring, 'unseal' | 'index'>,
  provider: Provider,
  breakers: readonly BreakerDoc[],
): ProviderAnswer {
  const config = unsealConfig(keyring, provider)
  return {
    ...withoutConfig(provider),
    config: config && (maskConfig(keyring, provider.type, config.resolved) as ProviderAnswer['config']),
    breaker: breakerView(breakers, provider),
  }
}

/** The config is as it was written: defaults are not part of a change. */
export function providerAuditFields(keyring: Pick<Keyring, 'unseal' | 'index'>, provider: Provider) {
  const config = unsealConfig(keyring, provider)
  return { ...withoutConfig(provider), config: config && maskConfig(keyring, provider.type, config.raw) }
}
