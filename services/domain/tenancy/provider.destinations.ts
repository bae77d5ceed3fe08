// Where a provider's secrets are sent: what of a config decides it, and which of its members are addresses.
import type { ProviderConfigs, ProviderType } from './providers.ts'

/** Everything that decides who reads a call. Two that are equal lead to the same place. */
export function destinationOf<T extends ProviderType>(type: T, config: ProviderConfigs[T]): unknown {
  return DESTINATIONS[type](config)
}

/** The query of an address may itself be a secret; the path may be all that tells one customer of a gateway from another. */
const withoutQuery = (address: string): string => address.replace(/\?.*$/, '')
const base = ({ base_url }: { base_url: string }): unknown => base_url

const DESTINATIONS: { [T in ProviderType]: (config: ProviderConfigs[T]) => unknown } = {
  twilio: base,
  vonage: base,
  whatsapp_cloud: base,
  telegram_gateway: base,
  http: ({ url }) => withoutQuery(url),
  // Without TLS from the first byte others on the way may read along.
  smtp: ({ host, port, secure }) => [host.toLowerCase(), port, secure],
  sandbox: () => null,
}

/** The member that holds an address somebody chose, and what it is. */
const ADDRESSES: Record<ProviderType, { path: string; kind: 'url' | 'host' } | null> = {
  twilio: { path: 'base_url', kind: 'url' },
  vonage: { path: 'base_url', kind: 'url' },
  whatsapp_cloud: { path: 'base_url', kind: 'url' },
  telegram_gateway: { path: 'base_url', kind: 'url' },
  http: { path: 'url', kind: 'url' },
  smtp: { path: 'host', kind: 'host' },
  sandbox: null,
}

/** The address a config names, as far as it does. */
export function addressIn(
  type: ProviderType,
  config: unknown,
): { path: string; kind: 'url' | 'host'; value: string } | null {
  const address = ADDRESSES[type]
  if (!address || typeof config !== 'object') return null
  const value = (config as Record<string, unknown> | null)?.[address.path]
  return typeof value === 'string' ? { ...address, value } : null
}
