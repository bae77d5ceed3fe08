// Where a provider's secrets are sent: the members of its config that decide it, and the member that holds an address.
import type { ProviderConfigs, ProviderType } from './providers.ts'

/** All members that decide who receives the calls. Two configs with equal destinations send to the same receiver. */
export function destinationOf<T extends ProviderType>(type: T, config: ProviderConfigs[T]): unknown {
  return DESTINATIONS[type](config)
}

/** The query may be a secret itself and does not count. The path counts: gateways may tell their customers apart by it. */
const withoutQuery = (address: string): string => address.replace(/\?.*$/, '')
const base = ({ base_url }: { base_url: string }): unknown => base_url

const DESTINATIONS: { [T in ProviderType]: (config: ProviderConfigs[T]) => unknown } = {
  twilio: base,
  vonage: base,
  whatsapp_cloud: base,
  telegram_gateway: base,
  http: ({ url }) => withoutQuery(url),
  // `secure` counts, because without TLS from the first byte the network may read the password.
  smtp: ({ host, port, secure }) => [host.toLowerCase(), port, secure],
  sandbox: () => null,
}

/** The member that holds the address, and whether that is a URL or a host name. */
const ADDRESSES: Record<ProviderType, { path: string; kind: 'url' | 'host' } | null> = {
  twilio: { path: 'base_url', kind: 'url' },
  vonage: { path: 'base_url', kind: 'url' },
  whatsapp_cloud: { path: 'base_url', kind: 'url' },
  telegram_gateway: { path: 'base_url', kind: 'url' },
  http: { path: 'url', kind: 'url' },
  smtp: { path: 'host', kind: 'host' },
  sandbox: null,
}

/** The address in a config that may be incomplete or malformed; null where there is none. */
export function addressIn(
  type: ProviderType,
  config: unknown,
): { path: string; kind: 'url' | 'host'; value: string } | null {
  const address = ADDRESSES[type]
  if (!address || typeof config !== 'object') return null
  const value = (config as Record<string, unknown> | null)?.[address.path]
  return typeof value === 'string' ? { ...address, value } : null
}
