// Who is signed in, light or dark, and the way out. Escape, a click elsewhere and leaving it by keyboard close it.
import { useEffect, useRef, useState } from 'preact/hooks'
import { readStored, store } from '../data/browser-storage.ts'
import { useMe, useSessionControl } from '../data/session.tsx'
import { useTenant } from '../data/tenant.tsx'
import { useChange } from '../data/use-change.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import './account-menu.css'

const THEMES = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

const ROLES = { operator: 'Operator of this deployment', owner: 'Owner', developer: 'Developer', viewer: 'Viewer' }

type Theme = (typeof THEMES)[number]['value']

const storedTheme = (): Theme => THEMES.find(({ value }) => value === readStored('theme'))?.value ?? 'system'

export function AccountMenu() {
  const me = useMe()
  const { signOut } = useSessionControl()
  const leaving = useChange()
  const { company } = useTenant()
  const menu = useRef<HTMLDetailsElement>(null)
  const name = me.name ?? me.email ?? 'Account'
  useClosing(menu)
  return (
    <details class="account" ref={menu}>
      <summary>
        <span class="account-initial" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <span class="account-name">{name}</span>
      </summary>
      <div class="menu">
        <div>
          <p class="account-owner">{name}</p>
          {me.email && me.email !== name && <p class="soft">{me.email}</p>}
          <p class="soft">
            {me.role === 'operator' ? ROLES.operator : me.role && `${ROLES[me.role]} of ${company?.name ?? '…'}`}
          </p>
        </div>
        <ThemeChoice />
        <Button busy={leaving.busy} onClick={() => leaving.run(signOut)}>
          Sign out
        </Button>
        {leaving.problem && <Notice tone="bad">You are still signed in: {leaving.problem.detail}</Notice>}
      </div>
    </details>
  )
}

function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme)
  function choose(next: Theme): void {
    setTheme(next)
    store('theme', next === 'system' ? null : next)
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
  }
  return (
    <label>
      Theme
      <select value={theme} onChange={event => choose(event.currentTarget.value as Theme)}>
        {THEMES.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

function useClosing(menu: { current: HTMLDetailsElement | null }): void {
  useEffect(() => {
    const element = menu.current
    if (element === null) return
    const closeElsewhere = ({ target }: Event): void => {
      if (target instanceof Node && !element.contains(target)) element.open = false
    }
    const closeByEscape = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || !element.open) return
      element.open = false
      element.querySelector('summary')?.focus()
    }
    addEventListener('pointerdown', closeElsewhere)
    addEventListener('focusin', closeElsewhere)
    element.addEventListener('keydown', closeByEscape)
    return () => {
      removeEventListener('pointerdown', closeElsewhere)
      removeEventListener('focusin', closeElsewhere)
      element.removeEventListener('keydown', closeByEscape)
    }
  }, [menu])
}
