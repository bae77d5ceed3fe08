// Which members of a provider's config are secret, and how a config is shown to people: with fingerprints in place of secrets.
import { type Fingerprinter, fingerprint } from './fingerprint.ts'
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

export function maskConfig(keyring: Fingerprinter, type: ProviderType, config: unknown): unknown {
  const isSecret = (path: string[]): boolean =>
    SECRET_MEMBERS[type].includes(path.join('.')) ||
    SECRET_MEMBERS[type].includes([...path.slice(0, -1), '*'].join('.'))
  return mapStrings(config, [], (value, path) => {
    if (isSecret(path)) return fingerprint(keyring, value)
    if (type !== 'http') return value
    if (path[0] === 'url') return maskQuery(keyring, value)
    // Some gateways take their API key in the body, so any text beside a placeholder is masked.
    return path[0] === 'body' && /\w/.test(value.replaceAll(/\{\{\w+\}\}/g, '')) ? fingerprint(keyring, value) : value
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

function maskQuery(keyring: Fingerprinter, address: string): string {
  const at = address.indexOf('?')
  return at < 0 ? address : `${address.slice(0, at)}?${fingerprint(keyring, address.slice(at + 1))}`
}
