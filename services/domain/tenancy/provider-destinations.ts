// Where a provider's secrets are sent: the members of its config that decide it, and the member that holds an address.
import { fieldsOf, type ProviderConfigs, type ProviderType } from './provider-types/list.ts'

/** All members that decide who receives the calls. Two configs with equal destinations send to the same receiver. */
export const destinationOf = <T extends ProviderType>(type: T, config: ProviderConfigs[T]): unknown[] =>
  fieldsOf(type).flatMap(({ path, kind, destination }) => {
    const value = (config as Record<string, unknown>)[path]
    if (!destination) return []
    // The query may be a secret itself and does not count. The path counts: gateways may tell their customers apart by it.
    if (kind === 'url') return [String(value).replace(/\?.*$/, '')]
    return [kind === 'host' ? String(value).toLowerCase() : value]
  })

/** The address in a config that may be incomplete or malformed; null where there is none. */
export function addressIn(
  type: ProviderType,
  config: unknown,
): { path: string; kind: 'url' | 'host'; value: string } | null {
  const field = fieldsOf(type).find(({ kind }) => kind === 'url' || kind === 'base_url' || kind === 'host')
  if (!field || typeof config !== 'object') return null
  const value = (config as Record<string, unknown> | null)?.[field.path]
  return typeof value === 'string' ? { path: field.path, kind: field.kind === 'host' ? 'host' : 'url', value } : null
}
