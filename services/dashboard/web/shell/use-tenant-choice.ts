// The viewer chooses another company or app. The page of one verification is about that verification alone, so the list of the new choice
// takes its place.
import { useLocation } from 'preact-iso'
import { VERIFICATIONS_PATH } from '../../screens.ts'
import { type Tenant, useTenant } from '../data/tenant.tsx'

export function useTenantChoice(): Pick<Tenant, 'chooseCompany' | 'chooseApp'> {
  const { path, route } = useLocation()
  const { chooseCompany, chooseApp } = useTenant()
  const leaveVerification = (): void => {
    if (path.startsWith(`${VERIFICATIONS_PATH}/`)) route(VERIFICATIONS_PATH)
  }
  return {
    chooseCompany(id) {
      chooseCompany(id)
      leaveVerification()
    },
    chooseApp(id) {
      chooseApp(id)
      leaveVerification()
    },
  }
}
