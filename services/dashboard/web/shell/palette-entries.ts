// What the command palette offers. In: what was typed, the screens and the apps. Out: entries, the best first.

export interface PaletteEntry {
  id: string
  name: string
  /** What kind of thing it is. */
  hint: string
  /** Where it leads; null for an entry that chooses an app. */
  path: string | null
  appId?: string
}

export interface PaletteSource {
  screens: readonly { path: string; name: string }[]
  apps: readonly { id: string; name: string }[]
}

/** A phone number, an address, an id: something to search verifications for, not the name of a screen. */
const LOOKS_LIKE_RECIPIENT = /^\+?[\d\s().-]{4,}$|@|^otp_/

export function paletteEntries(typed: string, { screens, apps }: PaletteSource): PaletteEntry[] {
  const wanted = typed.trim().toLowerCase()
  const matches = (name: string): boolean => wanted.split(/\s+/).every(word => name.toLowerCase().includes(word))
  const search: PaletteEntry = wanted.startsWith('otp_')
    ? { id: 'search', name: `Open ${typed.trim()}`, hint: 'Verification', path: `/verifications/${typed.trim()}` }
    : {
        id: 'search',
        name: `Search verifications for ${typed.trim()}`,
        hint: 'Search',
        path: `/verifications?recipient=${encodeURIComponent(typed.trim())}`,
      }
  const entries = [
    ...screens.map(({ path, name }) => ({ id: path, name, hint: 'Screen', path })),
    { id: '/docs', name: 'API reference', hint: 'Page', path: '/docs' },
    ...apps.map(({ id, name }) => ({ id, name, hint: 'App', path: null, appId: id })),
  ].filter(({ name }) => matches(name))
  if (wanted === '') return entries
  return LOOKS_LIKE_RECIPIENT.test(wanted) ? [search, ...entries] : [...entries, search]
}
