// In: the bootstrap file and the store. Out: where the two cannot both be right. Read before the first write, so that a file with
// a conflict changes nothing.

import type { CountersignStore } from '../collections.ts'
import { hashApiKey } from '../tenancy/api-keys.ts'
import type { ApiKey } from '../tenancy/documents.ts'
import type { Problem } from '../tenancy/problems.ts'
import type { Bootstrap, GivenKey } from './file.ts'

export interface Conflicts {
  problems: Problem[]
  warnings: Problem[]
}

interface Placed<T> {
  path: string
  given: T
  /** The id of what it stands in. */
  owner: string
}

export async function conflictsWith(file: Bootstrap, store: CountersignStore): Promise<Conflicts> {
  const apps = file.companies.flatMap((company, at) =>
    company.apps.map((given, app) => ({ path: `companies.${at}.apps.${app}`, given, owner: company.id })),
  )
  const keys = apps.flatMap(({ path, given: app }) =>
    app.keys.map((given, key) => ({ path: `${path}.keys.${key}`, given, owner: app.id })),
  )
  const storedApps = await store.docs('apps').get(apps.map(app => app.given.id))
  const storedKeys = await store.docs('keys').get(keys.map(key => key.given.id))
  const taken = await keysByHash(
    store,
    keys.flatMap(({ given }) => (given.key === null ? [] : hashApiKey(given.key))),
  )
  return {
    problems: [
      ...apps.flatMap(({ path, given, owner }) => {
        const company = storedApps.get(given.id)?.company_id
        return company === undefined || company === owner
          ? []
          : [{ path: `${path}.id`, message: `is an app of ${company} already` }]
      }),
      ...keys.flatMap(key => keyConflicts(key, storedKeys.get(key.given.id), taken)),
    ],
    warnings: keys
      .filter(({ given }) => (storedKeys.get(given.id)?.revoked_at ?? null) !== null)
      .map(({ path, given }) => ({ path, message: `${given.id} was revoked, and stays so` })),
  }
}

async function keysByHash(store: CountersignStore, hashes: string[]): Promise<Map<string, ApiKey>> {
  if (hashes.length === 0) return new Map()
  const found = await store.docs('keys').find({ hash: { $in: hashes } }, { sort: { hash: 1 }, limit: hashes.length })
  return new Map(found.map(key => [key.hash, key]))
}

function keyConflicts(
  { path, given, owner }: Placed<GivenKey>,
  stored: ApiKey | undefined,
  taken: Map<string, ApiKey>,
): Problem[] {
  const hash = given.key === null ? null : hashApiKey(given.key)
  const other = hash === null ? undefined : taken.get(hash)
  if (other && other._id !== given.id) return [{ path: `${path}.key`, message: `is the value of ${other._id} already` }]
  if (!stored) return []
  if (stored.app_id !== owner) return [{ path: `${path}.id`, message: `is a key of ${stored.app_id} already` }]
  const changed = (['kind', 'mode'] as const).filter(name => stored[name] !== given[name])
  return [
    ...changed.map(name => ({
      path: `${path}.${name}`,
      message: `${given.id} is there already, and is ${stored[name]}`,
    })),
    ...(hash === null || hash === stored.hash
      ? []
      : [
          {
            path: `${path}.key`,
            message: `${given.id} is there already with another value: give the new key an id of its own`,
          },
        ]),
  ]
}
