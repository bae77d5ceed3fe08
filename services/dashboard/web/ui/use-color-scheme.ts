// Light or dark, as the page looks now. It changes with the system, and with the theme that the viewer chooses.
import { useEffect, useState } from 'preact/hooks'

export type ColorScheme = 'light' | 'dark'

const systemIsDark = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)')

function currentScheme(): ColorScheme {
  const { theme } = document.documentElement.dataset
  if (theme === 'light' || theme === 'dark') return theme
  return systemIsDark().matches ? 'dark' : 'light'
}

export function useColorScheme(): ColorScheme {
  const [scheme, setScheme] = useState(currentScheme)
  useEffect(() => {
    const update = () => setScheme(currentScheme())
    const system = systemIsDark()
    const chosen = new MutationObserver(update)
    system.addEventListener('change', update)
    chosen.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => {
      system.removeEventListener('change', update)
      chosen.disconnect()
    }
  }, [])
  return scheme
}
