// A stored provider as people and the audit log see it: fingerprints in place of secrets. And as the code sees it, opened.
import { type Keyring, Unsealable } from '../../../infra/crypto/keyring.ts'
import { type Provider, providerContext } from '../../domain/tenancy/documents.ts'
import { resolveProvider, shownConfig } from '../../domain/tenancy/providers.ts'
import type { StoredConfig } from './changes.ts'

export const placeOf = ({ name, channel, type, position }: Omit<Provider, 'config'>) => ({
  name,
  channel,
  type,
  position,
})

/** Null when it was sealed with a key that is gone. */
export function openedConfig(keyring: Pick<Keyring, 'unseal'>, { _id, type, config }: Provider): StoredConfig | null {
  try {
    const written: unknown = JSON.parse(keyring.unseal(config, providerContext(_id)))
    return { written, resolved: resolveProvider(type, written).config }
  } catch (error) {
    if (error instanceof Unsealable) return null
    throw error
  }
}

/** With its defaults. */
export function shownProvider(keyring: Pick<Keyring, 'unseal'>, provider: Provider) {
  const config = openedConfig(keyring, provider)
  return { ...placeOf(provider), config: config && shownConfig(provider.type, config.resolved) }
}

/** As it was written: what nobody chose is no part of a change. */
export function recordedProvider(keyring: Pick<Keyring, 'unseal'>, provider: Provider) {
  const config = openedConfig(keyring, provider)
  return { ...placeOf(provider), config: config && shownConfig(provider.type, config.written) }
}
