// Which component shows which path. Each screen is a file of its own that is loaded when it is first opened.
import { ErrorBoundary, lazy, Route, Router } from 'preact-iso'
import { VERIFICATION_PATH } from '../../screens.ts'
import { NotFound } from './not-found.tsx'

const Overview = lazy(() => import('../screens/overview/overview.tsx'))
const Verifications = lazy(() => import('../screens/verifications/verifications.tsx'))
const Verification = lazy(() => import('../screens/verifications/verification.tsx'))
const ApiKeys = lazy(() => import('../screens/api-keys/api-keys.tsx'))
const Routing = lazy(() => import('../screens/routing/routing.tsx'))
const Providers = lazy(() => import('../screens/providers/providers.tsx'))
const Limits = lazy(() => import('../screens/limits/limits.tsx'))
const Money = lazy(() => import('../screens/money/money.tsx'))
const Team = lazy(() => import('../screens/team/team.tsx'))
const Audit = lazy(() => import('../screens/audit/audit.tsx'))
const Queues = lazy(() => import('../screens/queues/queues.tsx'))
const Privacy = lazy(() => import('../screens/privacy/privacy.tsx'))
const TryIt = lazy(() => import('../screens/try/try.tsx'))

export function Routes() {
  return (
    <ErrorBoundary>
      <Router>
        <Route path="/overview" component={Overview} />
        <Route path="/verifications" component={Verifications} />
        <Route path={VERIFICATION_PATH} component={Verification} />
        <Route path="/api-keys" component={ApiKeys} />
        <Route path="/routing" component={Routing} />
        <Route path="/providers" component={Providers} />
        <Route path="/limits" component={Limits} />
        <Route path="/money" component={Money} />
        <Route path="/team" component={Team} />
        <Route path="/audit" component={Audit} />
        <Route path="/queues" component={Queues} />
        <Route path="/privacy" component={Privacy} />
        <Route path="/try" component={TryIt} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  )
}
