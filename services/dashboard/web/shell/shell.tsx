// The frame around every screen: navigation, the choice of company and app, the account. Screens are shown once an app is chosen.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { addressIn, readPlace, screensFor } from '../../screens.ts'
import { useMe } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'
import { Button } from '../ui/button.tsx'
import { Loading } from '../ui/loading.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { ScreenLink } from '../ui/screen-link.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommandPalette } from './command-palette.tsx'
import { FirstApp } from './first-app.tsx'
import { Invitations } from './invitations.tsx'
import { Missing } from './missing.tsx'
import { ScreenOfPath } from './screen-of-path.tsx'
import { TenantPicker } from './tenant-picker.tsx'

export function Shell() {
  const [menuOpen, setMenuOpen] = useState(false)
  const { path } = useLocation()
  const main = useRef<HTMLElement>(null)
  // Another screen closes the menu of a narrow screen; an address that is led on to its app shows the same one.
  const screenPath = readPlace(path)?.path ?? path
  useEffect(() => setMenuOpen(false), [screenPath])

  return (
    <div class={menuOpen ? 'shell menu-open' : 'shell'}>
      <button class="skip" type="button" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <ScreenLink class="brand" to="/overview">
          <img src="/favicon.svg" alt="Countersign" width="24" height="24" />
          <span aria-hidden="true">Countersign</span>
        </ScreenLink>
        <TenantPicker />
        <CommandPalette />
        <AccountMenu />
        <Button look="quiet" aria-expanded={menuOpen} aria-controls="navigation" onClick={() => setMenuOpen(!menuOpen)}>
          Menu
        </Button>
      </header>
      <Navigation path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        <Invitations />
        <Content path={path} />
      </main>
    </div>
  )
}

function Navigation({ path }: { path: string }) {
  const { role } = useMe()
  const screens = screensFor(role)
  const shown = readPlace(path)?.screen.path
  return (
    <nav id="navigation" class="navigation" aria-label="Screens">
      <div class="navigation-links">
        <ul>
          {screens.map(screen => (
            <li key={screen.path}>
              <ScreenLink to={screen.path} aria-current={shown === screen.path ? 'page' : undefined}>
                {screen.name}
              </ScreenLink>
            </li>
          ))}
        </ul>
        <a class="docs-link" href="/docs" target="_blank" rel="noreferrer">
          API reference
        </a>
      </div>
    </nav>
  )
}

function Content({ path }: { path: string }) {
  const { problem, loading, missing, company, app, reload } = useTenant()
  const place = readPlace(path)
  if (problem) return <ProblemNotice problem={problem} onRetry={reload} />
  if (loading) return <Loading what="your apps" />
  if (missing) return <Missing {...missing} />
  if (company === null) return <FirstApp />
  const address = place && addressIn({ app_id: app?.id ?? null, company_id: company.id }, place.path)
  if (address !== null && address !== path) return <LeadOn to={address} />
  if (app === null && place && !NEEDS_NO_APP.includes(place.path)) return <FirstApp />
  // A new app gets new screens: nothing typed for one app is saved into another.
  return <ScreenOfPath key={app?.id ?? company.id} />
}

/** Screens that are of use before there is an app: its people are invited first. */
const NEEDS_NO_APP: readonly string[] = ['/money', '/team', '/audit', '/queues']

/** Puts the app or company into an address that names neither, or only one: what follows the path is kept. */
function LeadOn({ to }: { to: string }) {
  const { route } = useLocation()
  useLayoutEffect(() => route(`${to}${location.search}${location.hash}`, true), [to])
  return <Loading what="the screen" />
}
