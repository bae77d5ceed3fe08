// The table of docs/settings.md. In: the declared settings, and the page. Out: the page with the table as it must be. The text around the
// table is written by hand.
import { STEP_UPS } from '../../machines/settings.ts'
import { SETTINGS, type Setting } from '../../services/domain/tenancy/setting-list.ts'

const BEGIN = '<!-- The table is written by npm run openapi, from machines/settings.ts. -->\n\n'
const HEADER = '| Setting | Default | May be | Meaning |\n|---|---|---|---|\n'

export function withSettingsTable(page: string): string {
  const [before, after = ''] = page.split(BEGIN)
  return `${before}${BEGIN}${HEADER}${SETTINGS.map(row).join('')}${after.replace(/^(?:\|.*\n)*/, '')}`
}

const row = (setting: Setting): string =>
  `| \`${setting.path}\` | \`${JSON.stringify(setting.default)}\` | ${valuesOf(setting)} | ${meaningOf(setting)} |\n`

function valuesOf({ kind, bounds, choices, values }: Setting): string {
  if (values !== '') return values
  if (kind === 'choice')
    return Object.keys(choices)
      .map(value => `\`${value}\``)
      .join(', ')
  if (kind === 'rules') return 'rules'
  if (kind === 'switch') return '`true`, `false`'
  if (bounds === null) return ''
  return `${bounds.min} to ${bounds.max}${kind === 'durations' ? ' each, at least one' : ''}`
}

function meaningOf({ title, description, choices, more, stepUp }: Setting): string {
  const meanings = Object.entries(choices).map(([value, { hint }]) => `\`${value}\`: ${hint}`)
  const proof = stepUp === null ? '' : `${STEP_UPS[stepUp]} needs a [step-up](admin-api.md#step-up).`
  return [`**${title}.**`, description, ...meanings, more, proof].filter(part => part !== '').join(' ')
}
