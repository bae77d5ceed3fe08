// Which component shows which path. Each screen is a file of its own that is loaded when it is first opened.
import type { ComponentType } from 'preact'
import { ErrorBoundary, Route, Router, useLocation } from 'preact-iso'
import { decoded, patternOf, SCREENS, type ScreenPath, VERIFICATION_PATH } from '../../screens.ts'
import { Screen } from '../ui/screen.tsx'
import { ScreenLink } from '../ui/screen-link.tsx'
import { loadedScreen } from './loaded-screen.tsx'

const Overview = loadedScreen(() => import('../screens/overview/overview.tsx'))
const Verifications = loadedScreen(() => import('../screens/verifications/verifications.tsx'))
const Verification = loadedScreen(() => import('../screens/verifications/verification.tsx'))
const ApiKeys = loadedScreen(() => import('../screens/api-keys/api-keys.tsx'))
const Webhooks = loadedScreen(() => import('../screens/webhooks/webhooks.tsx'))
const Routing = loadedScreen(() => import('../screens/routing/routing.tsx'))
const Providers = loadedScreen(() => import('../screens/providers/providers.tsx'))
const Limits = loadedScreen(() => import('../screens/limits/limits.tsx'))
const Settings = loadedScreen(() => import('../screens/settings/settings.tsx'))
const Money = loadedScreen(() => import('../screens/money/money.tsx'))
const Team = loadedScreen(() => import('../screens/team/team.tsx'))
const Audit = loadedScreen(() => import('../screens/audit/audit.tsx'))
const Queues = loadedScreen(() => import('../screens/queues/queues.tsx'))
const Privacy = loadedScreen(() => import('../screens/privacy/privacy.tsx'))
const TryIt = loadedScreen(() => import('../screens/try/try.tsx'))

const COMPONENTS: Readonly<Record<ScreenPath, ComponentType>> = {
  '/overview': Overview,
  '/verifications': Verifications,
  '/api-keys': ApiKeys,
  '/webhooks': Webhooks,
  '/routing': Routing,
  '/providers': Providers,
  '/limits': Limits,
  '/settings': Settings,
  '/money': Money,
  '/team': Team,
  '/audit': Audit,
  '/queues': Queues,
  '/privacy': Privacy,
  '/try': TryIt,
}

export function ScreenOfPath() {
  const { path } = useLocation()
  // The router decodes the parts of a path while it renders, and throws where that cannot be done.
  if (decoded(path) === null) return <NotFound />
  return (
    <ErrorBoundary>
      <Router>
        {SCREENS.map(({ path }) => (
          <Route key={path} path={patternOf(path)} component={COMPONENTS[path]} />
        ))}
        <Route path={patternOf(VERIFICATION_PATH)} component={Verification} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  )
}

function NotFound() {
  return (
    <Screen title="There is no such page">
      <p>
        <ScreenLink to="/overview">Go to the overview</ScreenLink>
      </p>
    </Screen>
  )
}
