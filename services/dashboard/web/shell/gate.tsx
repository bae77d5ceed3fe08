// Shows the sign-in page to strangers, their invitations to people who are in no company yet, and the shell to the others. The page that a
// stranger asked for is shown after signing in.

import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { SIGN_IN_PATH } from '../../screens.ts'
import { useSessionControl } from '../data/session.tsx'
import { TenantProvider } from '../data/tenant.tsx'
import { SignIn } from '../screens/sign-in/sign-in.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { InvitationsAlone } from './invitations.tsx'
import { Shell } from './shell.tsx'

export function Gate() {
  const { state, problem, check } = useSessionControl()
  const { path, url, route } = useLocation()
  const isSignIn = path === SIGN_IN_PATH

  useEffect(() => {
    if (state === 'signed out' && !isSignIn) {
      const wanted = path === '/' ? '' : `?next=${encodeURIComponent(url)}`
      route(`${SIGN_IN_PATH}${wanted}`, true)
    }
    if (typeof state === 'object' && path === '/') route('/overview', true)
  }, [state, isSignIn, path, url, route])

  if (isSignIn) return <SignIn />
  if (problem)
    return (
      <main class="alone">
        <ProblemNotice problem={problem} onRetry={check} />
      </main>
    )
  if (typeof state === 'string') return null
  if (state.role === null) return <InvitationsAlone />
  // Another company is another set of everything that was read.
  return (
    <TenantProvider key={state.company_id}>
      <Shell />
    </TenantProvider>
  )
}
