// In: the bootstrap file, the store and the outbound guard. Out: webhook and provider addresses that the guard refuses to call, by path.
// An address that is stored already is not checked again: otherwise the owner of a DNS name could stop the next start by pointing the
// name at a private address.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { type TargetInspector, targetProblem } from '../../../infra/outbound/target-inspector.ts'
import type { CountersignStore } from '../collections.ts'
import { type Provider, providerContext, providerId } from '../tenancy/documents.ts'
import type { InputProblem } from '../tenancy/problems.ts'
import { addressIn } from '../tenancy/provider-destinations.ts'
import { isProviderType } from '../tenancy/provider-types/list.ts'
import type { Bootstrap, BootstrapProvider } from './complete-file.ts'

export interface AddressDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'unseal'>
  inspect: TargetInspector
}

interface Address {
  path: string
  kind: 'url' | 'host'
  value: string
}

export async function findRefusedAddresses(
  file: Bootstrap,
  { store, keyring, inspect }: AddressDeps,
): Promise<InputProblem[]> {
  const apps = file.companies.flatMap(({ apps: companyApps }, at) =>
    companyApps.map((app, nth) => ({ ...app, path: `companies.${at}.apps.${nth}` })),
  )
  const endpoints = await store.docs('webhooks').get(apps.map(({ id }) => id))
  const ids = apps.flatMap(({ id, providers }) => (providers ?? []).map(({ name }) => providerId(id, name)))
  const stored = await store.docs('providers').get(ids)

  const addresses = apps.flatMap(({ id, path, webhook, providers }) => [
    ...(webhook && webhook.url !== endpoints.get(id)?.url
      ? [{ path: `${path}.webhook.url`, kind: 'url' as const, value: webhook.url }]
      : []),
    ...(providers ?? []).flatMap((listed, at) =>
      newAddress(listed, `${path}.providers.${at}`, savedAddressOf(keyring, stored.get(providerId(id, listed.name)))),
    ),
  ])
  const problems = await Promise.all(
    addresses.map(async ({ path, kind, value }) => {
      const refusal = await inspect[kind](value)
      return refusal === null ? [] : [{ path, message: `${targetProblem(refusal)}${remedyFor(refusal)}` }]
    }),
  )
  return problems.flat()
}

/** ForbiddenTarget says why; these two reasons are the operator's to lift. */
const remedyFor = (refusal: string): string =>
  /public address|plain http/.test(refusal) ? '. To allow it, name its range in ALLOW_PRIVATE_TARGETS' : ''

function newAddress({ type, config }: BootstrapProvider, path: string, saved: string | null): Address[] {
  const address = addressIn(type, config)
  if (address === null || address.value === saved) return []
  return [{ ...address, path: `${path}.config.${address.path}` }]
}

function savedAddressOf(keyring: Pick<Keyring, 'unseal'>, provider: Provider | undefined): string | null {
  if (!provider || !isProviderType(provider.type)) return null
  const opened = unsealOrNull(keyring, provider.config, providerContext(provider._id))
  return opened ? (addressIn(provider.type, JSON.parse(opened))?.value ?? null) : null
}
