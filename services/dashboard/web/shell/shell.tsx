// The frame around every screen: navigation, the choice of company and app, the account. Screens are shown once an app is chosen.

import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { SCREENS } from '../../screens.ts'
import { useMe } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'
import { Button } from '../ui/button.tsx'
import { Loading } from '../ui/loading.tsx'
import { ProblemNotice } from '../ui/notice.tsx'
import { AccountMenu } from './account-menu.tsx'
import { CommandPalette } from './command-palette.tsx'
import { FirstApp } from './first-app.tsx'
import { Routes } from './routes.tsx'
import { TenantPicker } from './tenant-picker.tsx'

export function Shell() {
  const [menuOpen, setMenuOpen] = useState(false)
  const { path } = useLocation()
  const main = useRef<HTMLElement>(null)
  // A new path closes the menu of a narrow screen.
  useEffect(() => setMenuOpen(false), [path])

  return (
    <div class={menuOpen ? 'shell menu-open' : 'shell'}>
      <button class="skip" type="button" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href="/overview">
          <img src="/favicon.svg" alt="Countersign" width="24" height="24" />
          <span aria-hidden="true">Countersign</span>
        </a>
        <TenantPicker />
        <CommandPalette />
        <AccountMenu />
        <Button look="quiet" aria-expanded={menuOpen} aria-controls="navigation" onClick={() => setMenuOpen(!menuOpen)}>
          Menu
        </Button>
      </header>
      <Navigation path={path} />
      <main id="main" ref={main} tabIndex={-1}>
        <Content path={path} />
      </main>
    </div>
  )
}

function Navigation({ path }: { path: string }) {
  const { role } = useMe()
  const screens = SCREENS.filter(screen => screen.role === 'viewer' || role === 'operator')
  return (
    <nav id="navigation" class="navigation" aria-label="Screens">
      <div class="navigation-links">
        <ul>
          {screens.map(screen => (
            <li key={screen.path}>
              <a href={screen.path} aria-current={path.startsWith(screen.path) ? 'page' : undefined}>
                {screen.name}
              </a>
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

/** Screens about the company: its people are invited before there is an app, too. */
const NEEDS_NO_APP: readonly string[] = ['/team', '/audit']

function Content({ path }: { path: string }) {
  const tenant = useTenant()
  if (tenant.problem) return <ProblemNotice problem={tenant.problem} onRetry={tenant.reload} />
  if (tenant.loading) return <Loading what="your apps" />
  if (tenant.company === null || (tenant.app === null && !NEEDS_NO_APP.includes(path))) return <FirstApp />
  // A new app gets new screens: nothing typed for one app is saved into another.
  return <Routes key={tenant.app?.id ?? tenant.company.id} />
}
