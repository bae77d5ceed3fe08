// Which company and which app the screens are about. In: what the caller may see, and the last choice, which the browser remembers. Out:
// the chosen app for every screen.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { readStored, store } from './browser-storage.ts'
import { useMe } from './session.tsx'
import { useQuery } from './use-query.ts'

export type Company = Schemas['Company']
export type App = Schemas['App']

/** Sends the codes with which users of the dashboard sign in; of interest to operators alone. */
export const CONSOLE_COMPANY_ID = 'cmp_console'
const LIST_LIMIT = 100

export interface Tenant {
  companies: Company[]
  company: Company | null
  apps: App[]
  /** Null when the company has none yet. */
  app: App | null
  problem: Problem | null
  loading: boolean
  chooseCompany(id: string): void
  chooseApp(id: string): void
  /** Reads companies and apps again, after one was created or renamed. */
  reload(): Promise<void>
  /** Shows what a change of the app answered. */
  replaceApp(app: App): void
}

const TenantContext = createContext<Tenant | null>(null)

export function TenantProvider({ children }: { children: ComponentChildren }) {
  const me = useMe()
  const [companyId, setCompanyId] = useState(readStored('company'))
  const [appId, setAppId] = useState(readStored('app'))

  const companies = useQuery(`companies ${me.company_id}`, async () => {
    const { items } = await bodyOf(api.GET('/admin/v1/companies', { params: { query: { limit: LIST_LIMIT } } }))
    return items
  })
  // A chosen one may stand behind the end of a long list.
  const farCompanyId = companies.data && farId(companies.data, companyId)
  const farCompany = useQuery(farCompanyId ? `company ${farCompanyId}` : null, () =>
    unlessGone(bodyOf(api.GET('/admin/v1/companies/{id}', { params: { path: { id: farCompanyId ?? '' } } }))),
  )
  const company =
    farCompany.data ??
    companies.data?.find(({ id }) => id === companyId) ??
    companies.data?.find(({ id }) => id !== CONSOLE_COMPANY_ID) ??
    companies.data?.[0] ??
    null

  const apps = useQuery(company && `apps ${company.id}`, async () => {
    const path = { id: company?.id ?? '' }
    const { items } = await bodyOf(
      api.GET('/admin/v1/companies/{id}/apps', { params: { path, query: { limit: LIST_LIMIT } } }),
    )
    return items
  })
  const farAppId = apps.data && farId(apps.data, appId)
  const farApp = useQuery(farAppId ? `app ${farAppId}` : null, () =>
    unlessGone(bodyOf(api.GET('/admin/v1/apps/{id}', { params: { path: { id: farAppId ?? '' } } }))),
  )
  const ownFarApp = farApp.data?.company_id === company?.id ? farApp.data : null
  const app = ownFarApp ?? apps.data?.find(({ id }) => id === appId) ?? apps.data?.[0] ?? null

  const tenant: Tenant = {
    companies: companies.data ?? [],
    company,
    apps: apps.data ?? [],
    app,
    problem: companies.problem ?? farCompany.problem ?? apps.problem ?? farApp.problem,
    loading:
      companies.data === undefined ||
      (Boolean(farCompanyId) && farCompany.data === undefined) ||
      (company !== null && apps.data === undefined) ||
      (Boolean(farAppId) && farApp.data === undefined),
    chooseCompany(id) {
      store('company', id)
      setCompanyId(id)
    },
    chooseApp(id) {
      store('app', id)
      setAppId(id)
    },
    async reload() {
      await Promise.all([companies.reload(), farCompany.reload(), apps.reload(), farApp.reload()])
    },
    replaceApp(changed) {
      farApp.replace(one => (one?.id === changed.id ? changed : one))
      apps.replace(all => all.map(one => (one.id === changed.id ? changed : one)))
    },
  }
  return <TenantContext.Provider value={tenant}>{children}</TenantContext.Provider>
}

/** The chosen id, if a list that is not complete lacks it. */
const farId = (listed: readonly { id: string }[], chosen: string | null): string | null =>
  listed.length === LIST_LIMIT && !listed.some(({ id }) => id === chosen) ? chosen : null

/** Null for one that does not exist any more, or that another viewer of this browser had chosen. */
const unlessGone = <T,>(reading: Promise<T>): Promise<T | null> =>
  reading.catch(thrown => {
    if (thrown instanceof Problem && thrown.status === 404) return null
    throw thrown
  })

export function useTenant(): Tenant {
  const tenant = useContext(TenantContext)
  if (tenant === null) throw new Error('there is no TenantProvider around this component')
  return tenant
}

/** The chosen app. Only for screens, which are shown once there is one. */
export function useApp(): App {
  const { app } = useTenant()
  if (app === null) throw new Error('no app is chosen')
  return app
}

export function useCompany(): Company {
  const { company } = useTenant()
  if (company === null) throw new Error('no company is chosen')
  return company
}
