// Which members of a provider's config are secret, and how a config is shown to people: with fingerprints in place of secrets. What is
// masked there is also hidden in what a vendor says.
import { isJsonObject } from '../../../infra/json-object.ts'
import { type Fingerprinter, fingerprint } from './fingerprint.ts'
import type { InputProblem } from './problems.ts'
import { MIN_RECEIPT_SECRET_LENGTH } from './provider-configs.ts'
import type { ProviderType } from './providers.ts'

/** Members that are secret. `headers.*` means every header. */
export const SECRET_MEMBERS: Record<ProviderType, readonly string[]> = {
  twilio: ['auth_token'],
  vonage: ['private_key', 'signature_secret'],
  http: ['headers.*', 'secret'],
  whatsapp_cloud: ['access_token', 'app_secret', 'verify_token'],
  telegram_gateway: ['token'],
  smtp: ['pass', 'dkim.private_key'],
  sandbox: [],
}

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
  const isSecret = (path: string[]): boolean =>
    SECRET_MEMBERS[type].includes(path.join('.')) ||
    SECRET_MEMBERS[type].includes([...path.slice(0, -1), '*'].join('.'))
  return mapStrings(config, [], (value, path) => {
    if (isSecret(path)) return replace(value)
    if (type !== 'http') return value
    if (path[0] === 'url') return replaceQuery(value, replace)
    // Some gateways take their API key in the body, so any text beside a placeholder is masked.
    return path[0] === 'body' && /\w/.test(value.replaceAll(/\{\{\w+\}\}/g, '')) ? replace(value) : value
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

/** The secret of the type `http` signs receipts, and strangers can try signatures. One that is stored stays, however short it is. */
export function receiptSecretProblems(type: ProviderType, config: unknown, stored: unknown): InputProblem[] {
  const secret = receiptSecretOf(type, config)
  if (secret === null || secret.length >= MIN_RECEIPT_SECRET_LENGTH || secret === receiptSecretOf(type, stored))
    return []
  return [{ path: 'secret', message: `must have at least ${MIN_RECEIPT_SECRET_LENGTH} characters` }]
}

const receiptSecretOf = (type: ProviderType, config: unknown): string | null =>
  type === 'http' && isJsonObject(config) && typeof config.secret === 'string' ? config.secret : null
