// The viewer chooses another company or app: the address changes, and the screen stays. The page of one verification is about that
// verification alone, so the list takes its place; a screen that is about no company gives way to the overview.
import { useLocation } from 'preact-iso'
import { addressIn, readPlace } from '../../screens.ts'

export interface TenantChoice {
  chooseCompany(id: string): void
  chooseApp(id: string): void
}

export function useTenantChoice(): TenantChoice {
  const { path, query, route } = useLocation()
  const place = readPlace(path)
  const screen = place?.screen.of === 'deployment' ? undefined : place?.screen
  const search = new URLSearchParams(place?.path === screen?.path ? query : {})
  search.delete('app')
  const target = (): string => `${screen?.path ?? '/overview'}${search.size === 0 ? '' : `?${search}`}`
  return {
    // An app's screen leads on to one of the company's apps.
    chooseCompany: id => route(addressIn({ app_id: null, company_id: id }, target())),
    chooseApp(id) {
      if (screen?.of !== 'company') return route(addressIn({ app_id: id, company_id: null }, target()))
      search.set('app', id)
      route(addressIn({ app_id: null, company_id: place?.company_id ?? null }, target()))
    },
  }
}
