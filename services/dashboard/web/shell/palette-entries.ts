// What the command palette offers. In: what was typed, the screens, the apps and the companies. Out: entries, the best first.
import { PROVIDER_TYPES } from '../../../domain/tenancy/provider-types/list.ts'
import { verificationPath } from '../../screens.ts'

export interface PaletteEntry {
  id: string
  name: string
  /** What kind of thing it is. */
  hint: string
  /** Where it leads; null for an entry that chooses an app or a company. */
  path: string | null
  appId?: string
  companyId?: string
}

/** Words that lead to a screen and are not in its name. */
const KEYWORDS: Readonly<Record<string, string>> = {
  '/overview': 'statistics charts conversion breakers',
  '/verifications': 'search refusals timeline codes history',
  '/api-keys': 'webhook endpoint signing secret events replay re-enable',
  '/webhooks': 'endpoints signing secret events replay payload backlog re-enable',
  '/routing': 'channels order countries whatsapp mode fallback explain',
  '/providers': `vendors gateway test breakers ${PROVIDER_TYPES.join(' ')}`,
  '/limits': 'rate limits countries blocked spend caps ip address lists guard',
  '/settings':
    'code length texts wording template subject html segments language expiry attempts cooldown devices publishable origins cors token idempotency',
  '/money': 'balance credit ledger prices reconciliation',
  '/team': 'users invite people roles sessions apps company',
  '/audit': 'log changes history',
  '/queues': 'dead letters depth requeue',
  '/privacy': 'erase person retention data keys gdpr',
  '/try': 'sandbox inbox test magic send code',
}

export interface PaletteSource {
  screens: readonly { path: string; name: string }[]
  apps: readonly { id: string; name: string }[]
  /** Those that can be chosen. */
  companies: readonly { id: string; name: string }[]
}

/** A phone number, an address, an id: something to search verifications for, not the name of a screen. */
const LOOKS_LIKE_RECIPIENT = /^\+?[\d\s().-]{4,}$|@|^otp_/

export function paletteEntries(typed: string, { screens, apps, companies }: PaletteSource): PaletteEntry[] {
  const wanted = typed.trim().toLowerCase()
  const matches = (name: string): boolean => wanted.split(/\s+/).every(word => name.toLowerCase().includes(word))
  const search: PaletteEntry = wanted.startsWith('otp_')
    ? {
        id: 'search',
        name: `Open ${typed.trim()}`,
        hint: 'Verification',
        path: verificationPath(typed.trim()),
      }
    : {
        id: 'search',
        name: `Search verifications for ${typed.trim()}`,
        hint: 'Search',
        path: `/verifications?recipient=${encodeURIComponent(typed.trim())}`,
      }
  const entries = [
    ...screens.map(({ path, name }) => ({ id: path, name, hint: 'Screen', path, keywords: KEYWORDS[path] ?? '' })),
    { id: '/docs', name: 'API reference', hint: 'Page', path: '/docs', keywords: 'docs samples openapi' },
    ...apps.map(({ id, name }) => ({ id, name, hint: 'App', path: null, appId: id, keywords: id })),
    // Before a letter is typed, many companies would be all that is seen.
    ...(wanted === '' ? [] : companies).map(({ id, name }) => ({
      id,
      name,
      hint: 'Company',
      path: null,
      companyId: id,
      keywords: id,
    })),
  ]
  const found = [
    ...entries.filter(({ name }) => matches(name)),
    ...entries.filter(({ name, keywords }) => !matches(name) && matches(`${name} ${keywords}`)),
  ].map(({ keywords: _, ...entry }) => entry)
  if (wanted === '') return found
  return LOOKS_LIKE_RECIPIENT.test(wanted) ? [search, ...found] : [...found, search]
}
