// In: the bootstrap file and the store. Out: which of the file's companies and apps were deleted. They stay so: the file would otherwise
// bring them back, with their keys, at the next start.
import type { CountersignStore } from '../collections.ts'
import type { Bootstrap } from './complete-file.ts'

/** The ids of companies and apps that are deleted, or being deleted. The apps of such a company are among them. */
export async function findDeleted(
  { companies }: Bootstrap,
  store: Pick<CountersignStore, 'docs'>,
): Promise<ReadonlySet<string>> {
  const appIds = companies.flatMap(({ apps }) => apps.map(({ id }) => id))
  const companyIds = companies.map(({ id }) => id)
  const [gone, storedCompanies, storedApps] = await Promise.all([
    store.docs('deletions').get([...companyIds, ...appIds]),
    store.docs('companies').get(companyIds),
    store.docs('apps').get(appIds),
  ])
  const isDeleted = (id: string): boolean =>
    gone.has(id) || (storedCompanies.get(id) ?? storedApps.get(id))?.deleted_at !== undefined
  const deleted = new Set([...companyIds, ...appIds].filter(isDeleted))
  for (const { id, apps } of companies) if (deleted.has(id)) for (const app of apps) deleted.add(app.id)
  return deleted
}

export const withoutDeleted = (file: Bootstrap, deleted: ReadonlySet<string>): Bootstrap => ({
  ...file,
  companies: file.companies
    .filter(({ id }) => !deleted.has(id))
    .map(company => ({ ...company, apps: company.apps.filter(({ id }) => !deleted.has(id)) })),
})
