// Which members of a provider's config are secret, and how a config is shown to people: with fingerprints in place of secrets. What is
// masked there is also hidden in what a vendor says.
import { isJsonObject } from '../../../infra/json-object.ts'
import { type Fingerprinter, fingerprint } from './fingerprint.ts'
import type { InputProblem } from './problems.ts'
import { declarationOf, fieldsOf, type ProviderType } from './provider-types/list.ts'

/** The paths of secret members. `headers.*` means every header. */
export const secretMembersOf = (type: ProviderType): string[] =>
  fieldsOf(type).flatMap(({ path, kind, secret }) => (secret ? [kind === 'headers' ? `${path}.*` : path] : []))

export const maskConfig = (keyring: Fingerprinter, type: ProviderType, config: unknown): unknown =>
  replaceSecrets(type, config, secret => fingerprint(keyring, secret))

/** Everything in a config that `maskConfig` hides. */
export function secretsIn(type: ProviderType, config: unknown): string[] {
  const secrets: string[] = []
  replaceSecrets(type, config, secret => {
    secrets.push(secret)
    return ''
  })
  return secrets
}

type Replace = (secret: string) => string

function replaceSecrets(type: ProviderType, config: unknown, replace: Replace): unknown {
  const { config: fields } = declarationOf(type)
  return mapStrings(config, [], (value, path) => {
    const field = fields[path.join('.')] ?? fields[path[0] ?? '']
    if (field?.secret) return replace(value)
    if (field?.kind === 'url') return replaceQuery(value, replace)
    // Some gateways take their API key in the body, so any text beside a placeholder is masked.
    return field?.kind === 'json' && /\w/.test(value.replaceAll(/\{\{\w+\}\}/g, '')) ? replace(value) : value
  })
}

function mapStrings(value: unknown, path: string[], map: (value: string, path: string[]) => string): unknown {
  if (typeof value === 'string') return map(value, path)
  if (Array.isArray(value)) return value.map((member, at) => mapStrings(member, [...path, String(at)], map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapStrings(member, [...path, name], map)]),
  )
}

function replaceQuery(address: string, replace: Replace): string {
  const at = address.indexOf('?')
  return at < 0 ? address : `${address.slice(0, at)}?${replace(address.slice(at + 1))}`
}

/** Secrets that are too short for one that is set anew. One that is stored stays. */
export const shortSecretProblems = (type: ProviderType, config: unknown, stored: unknown): InputProblem[] =>
  fieldsOf(type).flatMap(({ path, minNew = 0 }) => {
    const secret = isJsonObject(config) ? config[path] : undefined
    if (typeof secret !== 'string' || secret.length >= minNew) return []
    const isStored = isJsonObject(stored) && secret === stored[path]
    return isStored ? [] : [{ path, message: `must have at least ${minNew} characters` }]
  })
