// Refuses what sends or changes something for a closed app. The keys of what is closed do nothing, so people do nothing for it either.
import { httpException } from '../../infra/http/problem.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type App, isClosed } from '../domain/tenancy/documents.ts'

export async function requireOpen(store: CountersignStore, app: App): Promise<void> {
  if (isClosed(app)) throw httpException(409, 'The app is closed. Nothing was sent.')
  const companies = await store.docs('companies').get([app.company_id])
  if (isClosed(companies.get(app.company_id))) throw httpException(409, 'The company is closed. Nothing was sent.')
}
