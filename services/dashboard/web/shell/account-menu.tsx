// Who is signed in, light or dark, and the way out.
import { useState } from 'preact/hooks'
import { readStored, store } from '../data/local-storage.ts'
import { useMe, useSessionControl } from '../data/session.tsx'
import { Button } from '../ui/button.tsx'

type Theme = 'light' | 'dark' | 'system'

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
]

export function AccountMenu() {
  const me = useMe()
  const { signOut } = useSessionControl()
  const [theme, setTheme] = useState((readStored('theme') as Theme | null) ?? 'system')
  function choose(next: Theme): void {
    setTheme(next)
    store('theme', next === 'system' ? null : next)
    if (next === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = next
  }
  return (
    <details class="account">
      <summary>{me.name ?? me.email ?? 'Account'}</summary>
      <div class="menu">
        <p class="soft">
          {me.email ?? 'Operator'}, {me.role}
        </p>
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
        <Button onClick={signOut}>Sign out</Button>
      </div>
    </details>
  )
}
