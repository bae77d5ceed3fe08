// A stored provider as people and the audit log see it: fingerprints in place of secrets. And as the code sees it, opened.
import { type Keyring, Unsealable } from '../../../infra/crypto/keyring.ts'
import { type Provider, providerContext } from '../../domain/tenancy/documents.ts'
import { maskConfig, resolveProvider } from '../../domain/tenancy/providers.ts'
import type { StoredConfig } from './changes.ts'

export const withoutConfig = ({ name, channel, type, position }: Omit<Provider, 'config'>) => ({
  name,
  channel,
  type,
  position,
})

/** Null when it was sealed with a key that is gone. */
export function unsealConfig(keyring: Pick<Keyring, 'unseal'>, { _id, type, config }: Provider): StoredConfig | null {
  try {
    const raw: unknown = JSON.parse(keyring.unseal(config, providerContext(_id)))
    return { raw, resolved: resolveProvider(type, raw).config }
  } catch (error) {
    if (error instanceof Unsealable) return null
    throw error
  }
}

/** With its defaults. */
export function providerView(keyring: Pick<Keyring, 'unseal'>, provider: Provider) {
  const config = unsealConfig(keyring, provider)
  return { ...withoutConfig(provider), config: config && maskConfig(provider.type, config.resolved) }
}

/** As it was written: what nobody chose is no part of a change. */
export function providerAuditFields(keyring: Pick<Keyring, 'unseal'>, provider: Provider) {
  const config = unsealConfig(keyring, provider)
  return { ...withoutConfig(provider), config: config && maskConfig(provider.type, config.raw) }
}
