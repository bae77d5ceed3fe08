// The limits with their defaults, as the settings declare them, and the scopes that a refusal names.
import type { z } from 'zod'
import type { LimitRule } from '../../../../machines/settings.ts'
import type { limitScope } from '../../../domain/openapi/shared-schemas.ts'
import { SETTINGS, type Setting, type SettingPath } from '../../../domain/tenancy/setting-list.ts'
import { EMPTY_HTML, html, paragraphs, prose } from '../html.ts'
import { heading, inDashboard, table } from '../layout.ts'
import type { Guide } from './guide.ts'

/** `3600` as "1 h". */
export function duration(seconds: number): string {
  const units: [number, string][] = [
    [86_400, 'day'],
    [3_600, 'h'],
    [60, 'min'],
  ]
  for (const [size, unit] of units)
    if (seconds % size === 0)
      return unit === 'day' && seconds > size ? `${seconds / size} days` : `${seconds / size} ${unit}`
  return `${seconds} s`
}

/** The settings that limit a caller, beside the group `limits`. */
const LIMITING: readonly SettingPath[] = [
  'verify_attempts',
  'send_attempts',
  'resend_cooldown_seconds',
  'code.ttl_seconds',
  'token_ttl_seconds',
  'idempotency_ttl_seconds',
]

const rule = ({ max, seconds }: LimitRule): string => `${max.toLocaleString('en')} in ${duration(seconds)}`

/** The kind of a setting says the type of its value. */
function defaultInWords({ kind, default: value }: Setting): string {
  if (kind === 'rules') return (value as LimitRule[]).map(rule).join(', ')
  if (kind === 'durations') return (value as number[]).map(duration).join(', then ')
  if (kind === 'duration') return duration(value as number)
  return kind === 'percent' ? `${(value as number) * 100} %` : String(value)
}

const SCOPES: Record<z.output<typeof limitScope>, string> = {
  recipient: 'Sends or messages to this recipient.',
  client_ip: 'Sends and resends from this `client_ip`.',
  client_ip_reputation: 'The same for a VPN, a proxy, Tor or a datacenter, which may do a fifth of it.',
  app: 'Sends and resends of the whole app, or those of its publishable keys.',
  app_without_client_ip: 'Sends of the app without a usable `client_ip`. Pass the address of your user.',
  app_hooks: "Codes that the app's own login hands to a receiver without a usable address of its user.",
  recipient_verify: 'Wrong codes for this recipient, over all its verifications.',
  resend_cooldown: 'The wait between two sends of one verification.',
  fraud_guard: 'The fraud guard: too few codes to this number, or to numbers like it, are ever entered.',
  spend_cap: 'The money that the app may spend on this country in a UTC day.',
  provider_test:
    'Test calls of providers, by the admin API: 10 a minute for an app, 20 a day for a company, 3 in ten minutes for a recipient.',
  operator_token: 'Wrong operator’s tokens from this address.',
  api_key: 'Calls with unknown API keys from this address: 100 a minute. A key that works is not refused for them.',
  sign_in: 'Attempts to sign in.',
  invitations: 'Invitations to the dashboard: 20 a day by the users of a company, 3 to one address.',
  settings_trial: 'Settings that a company tries on past traffic: one at a time.',
}

/** Where most of them are changed. */
const SCREEN = '/limits'

export const limits: Guide = {
  id: 'limits',
  name: 'Limits',
  about: 'What is limited, by how much, and which limit was hit.',
  keywords: 'rate limit, ratelimit, rate limiting, throttling, quota, spam, abuse, attempts',
  screen: SCREEN,
  render: () => {
    const limiting = SETTINGS.filter(({ path }) => path.startsWith('limits.') || LIMITING.includes(path))
    return html`${paragraphs(
      'These are the defaults of an app; [its settings](#changeApp) change them. A limit holds in any stretch of its length, and what it counts may hold up to a tenth longer. A refused send counts for nothing and costs nothing.',
    )}
${table(
  ['Limit', 'Default'],
  [
    ...limiting.map(one => ({
      cells: [
        prose(`${one.title}. ${one.description}`),
        html`${defaultInWords(one)}${one.screen === SCREEN ? EMPTY_HTML : html`<p class="hint">${inDashboard(one.screen)}</p>`}`,
      ],
    })),
    { cells: [html`Body of a request.`, html`16 KiB`] },
  ],
)}
${heading(2, 'limit-scopes', 'Which limit was hit', 'retry-after')}
${paragraphs('A refusal with 429 names the limit as `scope`, and the seconds to wait as `retry_after` and in the header `Retry-After`.', 'A server key reads in the headers `RateLimit` and `RateLimit-Policy` of a send, a resend or a verify how far the limit nearest to its end is used, also when it refuses: `"recipient";r=3;t=120` of `"recipient";q=5;w=600` means that three more sends to this recipient are allowed, and one more in 120 seconds.')}
${table(
  ['Scope', 'What was used up'],
  Object.entries(SCOPES).map(([scope, meaning]) => ({
    id: `scope-${scope}`,
    cells: [html`<code>${scope}</code>`, prose(meaning)],
  })),
)}`
  },
}
