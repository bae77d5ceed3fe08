// In: the bootstrap file, the store, and what the guard would say of an address. Out: the addresses it would not call, by their path, as
// the admin API names them. Those that are saved already are not asked for again: whoever owns a name must not be able to keep a system
// from its next start.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { openedOrNull } from '../../../infra/crypto/opened.ts'
import { type Inspector, notCalled } from '../../../infra/outbound/inspect.ts'
import type { CountersignStore } from '../collections.ts'
import { type Provider, providerContext, providerId } from '../tenancy/documents.ts'
import type { Problem } from '../tenancy/problems.ts'
import { addressIn } from '../tenancy/provider.destinations.ts'
import type { Bootstrap, GivenProvider } from './file.ts'

export interface AddressParts {
  store: CountersignStore
  keyring: Pick<Keyring, 'unseal'>
  inspect: Inspector
}

interface Address {
  path: string
  kind: 'url' | 'host'
  value: string
}

export async function uncalledAddresses(
  file: Bootstrap,
  { store, keyring, inspect }: AddressParts,
): Promise<Problem[]> {
  const apps = file.companies.flatMap(({ apps: own }, at) =>
    own.map((app, nth) => ({ ...app, path: `companies.${at}.apps.${nth}` })),
  )
  const endpoints = await store.docs('webhooks').get(apps.map(({ id }) => id))
  const ids = apps.flatMap(({ id, providers }) => (providers ?? []).map(({ name }) => providerId(id, name)))
  const stored = await store.docs('providers').get(ids)

  const addresses = apps.flatMap(({ id, path, webhook, providers }) => [
    ...(webhook && webhook.url !== endpoints.get(id)?.url
      ? [{ path: `${path}.webhook.url`, kind: 'url' as const, value: webhook.url }]
      : []),
    ...(providers ?? []).flatMap((given, at) =>
      newAddress(given, `${path}.providers.${at}`, savedIn(keyring, stored.get(providerId(id, given.name)))),
    ),
  ])
  const problems = await Promise.all(
    addresses.map(async ({ path, kind, value }) => {
      const refusal = await inspect[kind](value)
      return refusal === null ? [] : [{ path, message: notCalled(refusal) }]
    }),
  )
  return problems.flat()
}

function newAddress({ type, config }: GivenProvider, path: string, saved: string | null): Address[] {
  const address = addressIn(type, config)
  if (address === null || address.value === saved) return []
  return [{ ...address, path: `${path}.config.${address.path}` }]
}

function savedIn(keyring: Pick<Keyring, 'unseal'>, provider: Provider | undefined): string | null {
  const opened = provider && openedOrNull(keyring, provider.config, providerContext(provider._id))
  return provider && opened ? (addressIn(provider.type, JSON.parse(opened))?.value ?? null) : null
}
