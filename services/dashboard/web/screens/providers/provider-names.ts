// Names of providers. In: a type and the names that are taken. Out: a name that is free; and the address that the vendor calls.
import type { ProviderType } from '../../../../domain/tenancy/provider-types/list.ts'

export function suggestName(type: ProviderType, taken: readonly string[]): string {
  const base = type.replaceAll('_', '-')
  if (!taken.includes(base)) return base
  for (let nth = 2; ; nth += 1) if (!taken.includes(`${base}-${nth}`)) return `${base}-${nth}`
}

/** `origin`: of the API, as vendors reach it. */
export const callbackAddress = (origin: string, appId: string, name: string): string =>
  `${origin}/callbacks/${appId}/${name}`
