// The types of provider there are: which channels each serves, how its config is parsed, and how a config is shown to people.
import type { z } from 'zod'
import type { Channel } from '../../../machines/channels.ts'
import { fingerprint } from './fingerprint.ts'
import { type Checked, check } from './problems.ts'
import { CONFIGS } from './provider.configs.ts'
import { resolve } from './resolve.ts'

export type ProviderType = keyof typeof CONFIGS

/** Complete configs by type, defaults resolved. */
export type ProviderConfigs = { [T in ProviderType]: z.output<(typeof CONFIGS)[T]> }

/** A type with its config: `type` tells which config it is. */
export type ProviderSetup = { [T in ProviderType]: { type: T; config: ProviderConfigs[T] } }[ProviderType]

export const PROVIDER_TYPES = Object.keys(CONFIGS) as ProviderType[]

export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

const ANY: readonly Channel[] = ['sms', 'whatsapp', 'telegram', 'email']

const SERVED: Record<ProviderType, readonly Channel[]> = {
  twilio: ['sms'],
  vonage: ['sms'],
  http: ANY,
  whatsapp_cloud: ['whatsapp'],
  telegram_gateway: ['telegram'],
  smtp: ['email'],
  sandbox: ANY,
}

export const channelsOf = (type: ProviderType): readonly Channel[] => SERVED[type]

export const parseProviderConfig = <T extends ProviderType>(type: T, input: unknown): Checked<ProviderConfigs[T]> =>
  // The schema of a type yields the config of that type; TypeScript does not follow the index through `z.output`.
  check(CONFIGS[type], input) as Checked<ProviderConfigs[T]>

export const resolveProvider = (type: ProviderType, stored: unknown): ProviderSetup =>
  ({ type, config: resolve(CONFIGS[type], stored) }) as ProviderSetup

/** Members that are secret; `headers.*` are all of the headers. */
export const SECRETS: Record<ProviderType, readonly string[]> = {
  twilio: ['auth_token'],
  vonage: ['private_key', 'signature_secret'],
  http: ['headers.*', 'secret'],
  whatsapp_cloud: ['access_token', 'app_secret', 'verify_token'],
  telegram_gateway: ['token'],
  smtp: ['pass', 'dkim.private_key'],
  sandbox: [],
}

/** A config as it may be read by people: fingerprints in place of secrets. */
export function shownConfig(type: ProviderType, config: unknown): unknown {
  const isSecret = (path: string[]): boolean =>
    SECRETS[type].includes(path.join('.')) || SECRETS[type].includes([...path.slice(0, -1), '*'].join('.'))
  return shown(config, [], (value, path) => {
    if (isSecret(path)) return fingerprint(value)
    if (type !== 'http') return value
    if (path[0] === 'url') return withHiddenQuery(value)
    // Gateways take their API keys in the body too. Whatever is beside a placeholder may be one.
    return path[0] === 'body' && /\w/.test(value.replaceAll(/\{\{\w+\}\}/g, '')) ? fingerprint(value) : value
  })
}

function shown(value: unknown, path: string[], text: (value: string, path: string[]) => string): unknown {
  if (typeof value === 'string') return text(value, path)
  if (Array.isArray(value)) return value.map((member, at) => shown(member, [...path, String(at)], text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member, [...path, name], text)]))
}

function withHiddenQuery(address: string): string {
  const at = address.indexOf('?')
  return at < 0 ? address : `${address.slice(0, at)}?${fingerprint(address.slice(at + 1))}`
}
