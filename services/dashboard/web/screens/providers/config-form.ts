// A provider's config as a form. In: the config as the API shows it, with fingerprints in place of secrets, or nothing for a new provider.
// Out: what the fields hold; and back from there to the config that is sent. Defaults are not sent, so that a stored config holds what was
// chosen and nothing else. A secret that is left empty is kept by the server.
import { type FieldAtPath, fieldsOf, type ProviderType } from '../../../../domain/tenancy/provider-types/list.ts'
import { rebase, valueAt } from '../../data/settings-patch.ts'

export type Members = Record<string, unknown>

export interface HeaderRow {
  name: string
  value: string
  /** The fingerprint of the stored value, which is kept while no other is typed; null for a new header. */
  stored: string | null
}

export interface ConfigForm {
  /** What was typed, by path. */
  texts: Readonly<Record<string, string>>
  switches: Readonly<Record<string, boolean>>
  headers: readonly HeaderRow[]
  /** Whether headers are stored: to remove the last one, an empty list must be sent. */
  hadHeaders: boolean
  /** Fingerprints of the stored secrets, by path. */
  stored: Readonly<Record<string, string>>
  /** Stored secrets that are to be removed, by path. */
  removed: readonly string[]
}

/** `config`: null for a new provider. */
export function formOf(type: ProviderType, config: Members | null): ConfigForm {
  const texts: Record<string, string> = {}
  const switches: Record<string, boolean> = {}
  const stored: Record<string, string> = {}
  let headers: HeaderRow[] = []
  for (const field of fieldsOf(type)) {
    const value = valueAt(config, field.path)
    if (field.kind === 'headers') headers = headerRows(value)
    else if (field.kind === 'switch') switches[field.path] = value === true
    else if (field.secret) {
      texts[field.path] = ''
      if (typeof value === 'string') stored[field.path] = value
    } else texts[field.path] = textOf(field, value, config)
  }
  return { texts, switches, headers, hadHeaders: headers.length > 0, stored, removed: [] }
}

export interface BuiltConfig {
  config: Members
  /** What keeps it from being sent, by path. */
  problems: ReadonlyMap<string, string>
}

export function configOf(type: ProviderType, form: ConfigForm): BuiltConfig {
  const config: Members = {}
  const problems = new Map<string, string>()
  for (const field of fieldsOf(type)) {
    const value = valueToSend(field, form, problem => problems.set(field.path, problem))
    if (value !== undefined) putAt(config, field.path, value)
  }
  return { config, problems }
}

/** The form on a config that another person has saved meanwhile: what was typed stays, and everything else is as in `fresh`. `before`: what
 *  the form was made of. */
export function rebaseForm(before: ConfigForm, form: ConfigForm, fresh: ConfigForm): ConfigForm {
  const theirs = rowsByName(fresh)
  const rows = rebase(rowsByName(before), rowsByName(form), theirs)
  const headers = Object.entries(rows).map(([name, row]) => ({
    ...row,
    // The server refuses the fingerprint of a value that is no longer stored.
    stored: row.stored && (theirs[name]?.stored ?? null),
  }))
  return { ...rebase(before, form, fresh), headers }
}

/** Whether the config sends its secrets to another address than before: then the stored ones must be typed again. */
export const isMoved = (type: ProviderType, before: ConfigForm, now: ConfigForm): boolean =>
  fieldsOf(type).some(
    ({ path, kind, destination }) =>
      destination &&
      (kind === 'switch' ? before.switches[path] !== now.switches[path] : trimmed(before, path) !== trimmed(now, path)),
  )

/** The default of a field, with its switches as they are; undefined where there is none. */
export function defaultOf({ default: usual, defaultWhen }: FieldAtPath, switches: ConfigForm['switches']): unknown {
  return defaultWhen && switches[defaultWhen.switch] ? defaultWhen.default : usual
}

/** Whether a stored secret can be removed by itself. One that belongs to another field goes with that. */
export const isRemovable = ({ secret, required, onlyWith, path }: FieldAtPath): boolean =>
  secret === true && !required && onlyWith === undefined && !path.includes('.')

/** The field beside which a refusal of the server is said; undefined where there is none. In: a path in the config, which may lead into a
 *  header or into a body. */
export const fieldOfRefusal = (type: ProviderType, path: string): FieldAtPath | undefined =>
  fieldsOf(type).find(
    field =>
      path === field.path || ((field.kind === 'headers' || field.kind === 'json') && path.startsWith(`${field.path}.`)),
  )

const trimmed = (form: ConfigForm, path: string): string => (form.texts[path] ?? '').trim()

function headerRows(value: unknown): HeaderRow[] {
  const headers = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return headers.map(([name, fingerprint]) => ({ name, value: '', stored: String(fingerprint) }))
}

/** Without rows that are empty. */
const rowsByName = ({ headers }: ConfigForm): Record<string, HeaderRow> =>
  Object.fromEntries(namedRows(headers).map(row => [headerKey(row), row]))

const namedRows = (rows: readonly HeaderRow[]): HeaderRow[] =>
  rows.filter(({ name, value }) => name.trim() !== '' || value !== '')

const headerKey = ({ name }: HeaderRow): string => name.trim().toLowerCase()

/** A default is shown as a placeholder, except for JSON and choices, which are easier to change than to begin. */
function textOf(field: FieldAtPath, value: unknown, config: Members | null): string {
  if (field.kind === 'json') return JSON.stringify(value ?? field.default, null, 2)
  if (field.kind === 'choice') return String(value ?? field.default)
  if (value === undefined || value === null) return ''
  const switchName = field.defaultWhen?.switch
  const switches = switchName === undefined ? {} : { [switchName]: valueAt(config, switchName) === true }
  return value === defaultOf(field, switches) ? '' : String(value)
}

/** Undefined: nothing is sent. */
function valueToSend(field: FieldAtPath, form: ConfigForm, refuse: (problem: string) => void): unknown {
  const text = field.kind === 'lines' ? (form.texts[field.path] ?? '') : trimmed(form, field.path)
  if (field.kind === 'headers') return headersToSend(form, refuse)
  if (field.kind === 'switch') return form.switches[field.path] ? true : undefined
  if (field.kind === 'json') return jsonToSend(text, field.default, refuse)
  if (field.secret) return secretToSend(field, text, form)
  if (text === '' || text === String(defaultOf(field, form.switches))) return undefined
  return field.kind === 'number' && /^\d+$/.test(text) ? Number(text) : text
}

function secretToSend({ path, onlyWith }: FieldAtPath, text: string, form: ConfigForm): unknown {
  const isStored = form.stored[path] !== undefined
  if (onlyWith !== undefined && trimmed(form, onlyWith) === '' && text === '') return isStored ? null : undefined
  if (text !== '') return text
  return isStored && form.removed.includes(path) ? null : undefined
}

/** A header that is not among those that are sent is removed, so all of them are sent: those that are kept with their fingerprints. */
function headersToSend({ headers, hadHeaders }: ConfigForm, refuse: (problem: string) => void): unknown {
  const named = namedRows(headers)
  if (named.length === 0 && !hadHeaders) return undefined
  const names = named.map(headerKey)
  if (names.includes('')) refuse('a header needs a name')
  else if (new Set(names).size < names.length) refuse('a header is named twice')
  return Object.fromEntries(
    named.map(({ name, value, stored }) => [name.trim(), value === '' ? (stored ?? '') : value]),
  )
}

function jsonToSend(text: string, usual: unknown, refuse: (problem: string) => void): unknown {
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return JSON.stringify(value) === JSON.stringify(usual) ? undefined : value
  } catch (error) {
    refuse(`is not JSON: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

function putAt(config: Members, path: string, value: unknown): void {
  const [name = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    config[name] = value
    return
  }
  const inner = (config[name] ?? {}) as Members
  putAt(inner, rest.join('.'), value)
  config[name] = inner
}
