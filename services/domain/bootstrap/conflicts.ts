// In: the bootstrap file and the store. Out: where the file contradicts the store. They are compared before the first write, so that a
// file with a conflict changes nothing.
import type { CountersignStore } from '../collections.ts'
import { hashApiKey } from '../tenancy/api-keys.ts'
import { type ApiKey, type App, isClosed } from '../tenancy/documents.ts'
import { type InputProblem, underPath } from '../tenancy/problems.ts'
import { resolveSettings } from '../tenancy/settings.ts'
import { ownTextProblems } from '../texts/own-texts.ts'
import type { Bootstrap, BootstrapApp, BootstrapKey } from './complete-file.ts'

export interface Conflicts {
  problems: InputProblem[]
  warnings: InputProblem[]
}

interface FileEntry<T> {
  path: string
  fromFile: T
  /** The id of the company of an app, or of the app of a key. */
  owner: string
}

export async function findConflicts(
  file: Bootstrap,
  store: CountersignStore,
  { mayMint, deleted }: { mayMint: boolean; deleted: ReadonlySet<string> },
): Promise<Conflicts> {
  const listed = file.companies.flatMap((company, at) =>
    company.apps.map((fromFile, app) => ({ path: `companies.${at}.apps.${app}`, fromFile, owner: company.id })),
  )
  const apps = listed.filter(({ fromFile: { id } }) => !deleted.has(id))
  const keys = apps.flatMap(({ path, fromFile: app }) =>
    app.keys.map((fromFile, key) => ({ path: `${path}.keys.${key}`, fromFile, owner: app.id })),
  )
  const storedCompanies = await store.docs('companies').get(file.companies.map(({ id }) => id))
  const storedApps = await store.docs('apps').get(apps.map(app => app.fromFile.id))
  const storedKeys = await store.docs('keys').get(keys.map(key => key.fromFile.id))
  const keysWithHash = await findKeysByHash(
    store,
    keys.flatMap(({ fromFile }) => (fromFile.key === null ? [] : hashApiKey(fromFile.key))),
  )
  return {
    problems: [
      ...apps.flatMap(({ path, fromFile, owner }) => {
        const company = storedApps.get(fromFile.id)?.company_id
        return company === undefined || company === owner
          ? []
          : [{ path: `${path}.id`, message: `is an app of ${company} already` }]
      }),
      ...apps.flatMap(app => textConflicts(app, storedApps.get(app.fromFile.id))),
      ...keys.flatMap(key => keyConflicts(key, storedKeys.get(key.fromFile.id), keysWithHash)),
      ...(mayMint
        ? []
        : keys.filter(({ fromFile: { id, key } }) => key === null && !storedKeys.has(id)).map(valueNeeded)),
    ],
    warnings: [
      ...file.companies
        .map(({ id }, at) => ({ path: `companies.${at}`, id }))
        .filter(({ id }) => deleted.has(id))
        .map(staysDeleted),
      ...listed
        .filter(({ fromFile: { id }, owner }) => deleted.has(id) && !deleted.has(owner))
        .map(({ path, fromFile: { id } }) => staysDeleted({ path, id })),
      ...file.companies
        .map(({ id }, at) => ({ path: `companies.${at}`, id }))
        .filter(({ id }) => isClosed(storedCompanies.get(id)) && !deleted.has(id))
        .map(staysClosed),
      ...apps
        .map(({ path, fromFile: { id } }) => ({ path, id }))
        .filter(({ id }) => isClosed(storedApps.get(id)))
        .map(staysClosed),
      ...keys
        .filter(({ fromFile }) => (storedKeys.get(fromFile.id)?.revoked_at ?? null) !== null)
        .map(({ path, fromFile }) => ({ path, message: `${fromFile.id} was revoked, and stays so` })),
    ],
  }
}

/** A new value would have to be printed, and log collectors would keep it. */
const valueNeeded = ({ path }: FileEntry<BootstrapKey>): InputProblem => ({
  path: `${path}.key`,
  message: 'is needed in production, where no key is printed: give key or key_file, or create the key in the dashboard',
})

/** Texts are counted with the name of the app, which may be the stored one. */
const textConflicts = ({ path, fromFile }: FileEntry<BootstrapApp>, stored?: App): InputProblem[] =>
  underPath(
    `${path}.settings`,
    ownTextProblems(
      resolveSettings(fromFile.settings ?? stored?.settings ?? {}),
      fromFile.name ?? stored?.name ?? fromFile.id,
    ),
  )

const staysClosed = ({ path, id }: { path: string; id: string }): InputProblem => ({
  path,
  message: `${id} is closed, and stays so`,
})

const staysDeleted = ({ path, id }: { path: string; id: string }): InputProblem => ({
  path,
  message: `${id} was deleted, and stays so: take it out of the file, or give it another id`,
})

async function findKeysByHash(store: CountersignStore, hashes: string[]): Promise<Map<string, ApiKey>> {
  if (hashes.length === 0) return new Map()
  const found = await store.docs('keys').find({ hash: { $in: hashes } }, { sort: { hash: 1 }, limit: hashes.length })
  return new Map(found.map(key => [key.hash, key]))
}

function keyConflicts(
  { path, fromFile, owner }: FileEntry<BootstrapKey>,
  stored: ApiKey | undefined,
  keysWithHash: Map<string, ApiKey>,
): InputProblem[] {
  const hash = fromFile.key === null ? null : hashApiKey(fromFile.key)
  const other = hash === null ? undefined : keysWithHash.get(hash)
  if (other && other._id !== fromFile.id)
    return [{ path: `${path}.key`, message: `is the value of ${other._id} already` }]
  if (!stored) return []
  if (stored.app_id !== owner) return [{ path: `${path}.id`, message: `is a key of ${stored.app_id} already` }]
  const changed = (['kind', 'mode'] as const).filter(name => stored[name] !== fromFile[name])
  return [
    ...changed.map(name => ({
      path: `${path}.${name}`,
      message: `${fromFile.id} is there already, and is ${stored[name]}`,
    })),
    ...(hash === null || hash === stored.hash
      ? []
      : [
          {
            path: `${path}.key`,
            message: `${fromFile.id} is there already with another value: give the new key an id of its own`,
          },
        ]),
  ]
}
