// Which component shows which path. Each screen is a file of its own that is loaded when it is first opened.
import { ErrorBoundary, Route, Router } from 'preact-iso'
import { VERIFICATION_PATH } from '../../screens.ts'
import { loadedScreen } from './loaded-screen.tsx'
import { NotFound } from './not-found.tsx'

const Overview = loadedScreen(() => import('../screens/overview/overview.tsx'))
const Verifications = loadedScreen(() => import('../screens/verifications/verifications.tsx'))
const Verification = loadedScreen(() => import('../screens/verifications/verification.tsx'))
const ApiKeys = loadedScreen(() => import('../screens/api-keys/api-keys.tsx'))
const Routing = loadedScreen(() => import('../screens/routing/routing.tsx'))
const Providers = loadedScreen(() => import('../screens/providers/providers.tsx'))
const Limits = loadedScreen(() => import('../screens/limits/limits.tsx'))
const Money = loadedScreen(() => import('../screens/money/money.tsx'))
const Team = loadedScreen(() => import('../screens/team/team.tsx'))
const Audit = loadedScreen(() => import('../screens/audit/audit.tsx'))
const Queues = loadedScreen(() => import('../screens/queues/queues.tsx'))
const Privacy = loadedScreen(() => import('../screens/privacy/privacy.tsx'))
const TryIt = loadedScreen(() => import('../screens/try/try.tsx'))

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
