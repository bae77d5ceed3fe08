// Which company and which app the screens are about. In: the address, which names one of them; where it does not, what
// this tab showed last, or else what the browser showed last. Out: the app and the company for every screen, or that
// there is no such one. Nothing else takes the place of what an address names.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { CONSOLE_COMPANY_ID } from '../../../domain/tenancy/console.ts'
import { addressIn, readPlace } from '../../screens.ts'
import { api, bodyOf, type Schemas } from '../api/client.ts'
import { Problem } from '../api/problem.ts'
import { readInTab, readStored, store, storeInTab } from './browser-storage.ts'
import { useMe } from './session.tsx'
import { patchOf, rebase, type Settings } from './settings-patch.ts'
import { useQuery } from './use-query.ts'

export type Company = Schemas['Company']
export type App = Schemas['App']

const LIST_LIMIT = 100

export interface Tenant {
  companies: Company[]
  company: Company | null
  apps: App[]
  /** Null when the company has none yet. */
  app: App | null
  /** What the address names and does not exist, or is not the caller's to see. */
  missing: { what: 'app' | 'company'; id: string } | null
  problem: Problem | null
  loading: boolean
  /** Reads companies and apps again, after one was created or renamed. */
  reload(): Promise<void>
  /** Shows what a change of the app answered. */
  replaceApp(app: App): void
}

const TenantContext = createContext<Tenant | null>(null)

export function TenantProvider({ children }: { children: ComponentChildren }) {
  const me = useMe()
  const { path, query } = useLocation()
  const place = readPlace(path)
  const lastShown = useRef({
    company: readInTab('company') ?? readStored('company'),
    app: readInTab('app') ?? readStored('app'),
  })
  const askedCompanyId = place?.company_id ?? null
  // A screen of a company may say which of its apps is chosen.
  const askedAppId = place && (place.app_id ?? query.app ?? null)
  const isAsked = askedCompanyId !== null || askedAppId !== null

  /** The apps that were listed last: another one of them is shown without a call. */
  const listedApps = useRef<readonly App[]>([])
  const listedApp = listedApps.current.find(({ id }) => id === askedAppId)
  const readApp = useQuery(askedAppId !== null && !listedApp ? `app ${askedAppId}` : null, () =>
    unlessGone(getApp(askedAppId ?? '')),
  )
  const askedApp = listedApp ?? readApp.data

  const companies = useQuery(`companies ${me.company_id}`, async () => {
    const { items } = await bodyOf(api.GET('/admin/v1/companies', { params: { query: { limit: LIST_LIMIT } } }))
    return items
  })
  const companyId = askedCompanyId ?? (askedAppId === null ? lastShown.current.company : (askedApp?.company_id ?? null))
  const listedCompany = companies.data?.find(({ id }) => id === companyId)
  // It may stand behind the end of a long list, or be newer than the list.
  const farCompanyId = companies.data && !listedCompany && (isAsked || isFull(companies.data)) ? companyId : null
  const farCompany = useQuery(farCompanyId ? `company ${farCompanyId}` : null, () => getCompany(farCompanyId))
  const company = listedCompany ?? farCompany.data ?? (isAsked ? null : firstOf(companies.data ?? []))

  const apps = useQuery(company && `apps ${company.id}`, async () => {
    const path = { id: company?.id ?? '' }
    const { items } = await bodyOf(
      api.GET('/admin/v1/companies/{id}/apps', { params: { path, query: { limit: LIST_LIMIT } } }),
    )
    return items
  })
  if (apps.data) listedApps.current = apps.data
  const appId = askedAppId ?? lastShown.current.app
  const chosenApp = apps.data?.find(({ id }) => id === appId)
  const farAppId = apps.data && !chosenApp && askedAppId === null && isFull(apps.data) ? appId : null
  const farApp = useQuery(farAppId ? `app ${farAppId}` : null, () => unlessGone(getApp(farAppId ?? '')))
  const app =
    askedAppId === null
      ? (chosenApp ?? (farApp.data?.company_id === company?.id ? farApp.data : null) ?? apps.data?.[0] ?? null)
      : (chosenApp ?? askedApp ?? null)

  const tenant: Tenant = {
    companies: companies.data ?? [],
    company,
    apps: apps.data ?? [],
    app,
    missing: missing(),
    problem: readApp.problem ?? companies.problem ?? farCompany.problem ?? apps.problem ?? farApp.problem,
    loading:
      companies.data === undefined ||
      (askedAppId !== null && askedApp === undefined) ||
      (Boolean(farCompanyId) && farCompany.data === undefined) ||
      (company !== null && apps.data === undefined) ||
      (Boolean(farAppId) && farApp.data === undefined),
    async reload() {
      const queries = [readApp, companies, farCompany, apps, farApp]
      await Promise.all(queries.map(({ reload }) => reload()))
    },
    replaceApp(changed) {
      for (const { replace } of [readApp, farApp]) replace(one => (one?.id === changed.id ? changed : one))
      apps.replace(all => all.map(one => (one.id === changed.id ? changed : one)))
    },
  }

  function missing(): Tenant['missing'] {
    if (askedCompanyId !== null && farCompany.data === null) return { what: 'company', id: askedCompanyId }
    if (askedAppId === null || askedApp === undefined) return null
    const isElsewhere = askedCompanyId !== null && askedApp?.company_id !== askedCompanyId
    return askedApp === null || isElsewhere ? { what: 'app', id: askedAppId } : null
  }

  const isShown = !tenant.loading && !tenant.problem && !tenant.missing
  useLayoutEffect(() => {
    if (!isShown) return
    lastShown.current = { company: company?.id ?? null, app: app?.id ?? null }
    for (const name of ['company', 'app'] as const) {
      storeInTab(name, lastShown.current[name])
      store(name, lastShown.current[name])
    }
  }, [isShown, company?.id, app?.id])

  return <TenantContext.Provider value={tenant}>{children}</TenantContext.Provider>
}

const isFull = (list: readonly unknown[]): boolean => list.length === LIST_LIMIT

/** The company of the console is seldom the one that is looked for. */
const firstOf = (companies: readonly Company[]): Company | null =>
  companies.find(({ id }) => id !== CONSOLE_COMPANY_ID) ?? companies[0] ?? null

export const getApp = (id: string): Promise<App> => bodyOf(api.GET('/admin/v1/apps/{id}', { params: { path: { id } } }))

const getCompany = (id: string | null): Promise<Company | null> =>
  unlessGone(bodyOf(api.GET('/admin/v1/companies/{id}', { params: { path: { id: id ?? '' } } })))

/** Null for one that does not exist, or that the caller may not see. */
export const unlessGone = <T,>(reading: Promise<T>): Promise<T | null> =>
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

/** Changes settings of the chosen app at once, and shows them. What others have changed meanwhile is shown, and not replaced. */
export function usePatchSettings(): (patch: Schemas['AppSettingsPatch']) => Promise<void> {
  const { id, settings: shown } = useApp()
  const { replaceApp } = useTenant()
  return async patch => {
    const patched = (settings: Settings) => rebase({}, patch, settings)
    const body = { settings: patch, replaces: patchOf(patched(shown), shown) ?? {} }
    const changed = bodyOf(api.PATCH('/admin/v1/apps/{id}', { params: { path: { id } }, body }))
    replaceApp(
      await changed.catch(async thrown => {
        if (Problem.from(thrown).status !== 409) throw thrown
        const now = await getApp(id)
        // Others have saved the same.
        if (patchOf(now.settings, patched(now.settings)) === null) return now
        replaceApp(now)
        throw new Problem(409, {
          detail: 'Another person has changed it meanwhile, so nothing was saved. What they saved is shown now.',
        })
      }),
    )
  }
}

export function useCompany(): Company {
  const { company } = useTenant()
  if (company === null) throw new Error('no company is chosen')
  return company
}

/** The address of a screen of the shown app or its company. In: a path as in SCREENS, with what follows it. `ofApp`: perhaps another app,
 *  whose company is not known here. */
export function useAddress(): (path: string, ofApp?: string) => string {
  const { app, company } = useTenant()
  const shown = { app_id: app?.id ?? null, company_id: company?.id ?? null }
  return (path, ofApp = app?.id) =>
    addressIn(ofApp === undefined || ofApp === app?.id ? shown : { app_id: ofApp, company_id: null }, path)
}
