// In: the bootstrap file and the store. Out: receipt secrets of providers that are too short, by path. One that is stored stays: an earlier
// release accepted it.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { CountersignStore } from '../collections.ts'
import { providerContext, providerId } from '../tenancy/documents.ts'
import { type InputProblem, underPath } from '../tenancy/problems.ts'
import { shortSecretProblems } from '../tenancy/provider-secrets.ts'
import type { Bootstrap } from './complete-file.ts'

export interface ShortSecretDeps {
  store: CountersignStore
  keyring: Pick<Keyring, 'unseal'>
}

export async function findShortSecrets(file: Bootstrap, { store, keyring }: ShortSecretDeps): Promise<InputProblem[]> {
  const listed = file.companies.flatMap(({ apps }, at) =>
    apps.flatMap(({ id, providers }, nth) =>
      (providers ?? []).map((provider, place) => ({
        ...provider,
        id: providerId(id, provider.name),
        path: `companies.${at}.apps.${nth}.providers.${place}.config`,
      })),
    ),
  )
  const stored = await store.docs('providers').get(listed.map(({ id }) => id))
  return listed.flatMap(({ id, path, type, config }) => {
    const sealed = stored.get(id)?.config
    const opened = sealed === undefined ? null : unsealOrNull(keyring, sealed, providerContext(id))
    return underPath(path, shortSecretProblems(type, config, opened === null ? null : JSON.parse(opened)))
  })
}
