// The types of provider there are: which channels each serves, how its config is parsed, and how a config is shown to people.
import type { z } from 'zod'
import type { Channel } from '../../../machines/channels.ts'
import { fingerprint } from './fingerprint.ts'
import { type CheckResult, check } from './problems.ts'
import { CONFIG_SCHEMAS } from './provider.configs.ts'
import { resolveDefaults } from './resolve-defaults.ts'

export type ProviderType = keyof typeof CONFIG_SCHEMAS

/** Complete configs by type, defaults resolved. */
export type ProviderConfigs = { [T in ProviderType]: z.output<(typeof CONFIG_SCHEMAS)[T]> }

/** A type with its config: `type` tells which config it is. */
export type TypedProviderConfig = { [T in ProviderType]: { type: T; config: ProviderConfigs[T] } }[ProviderType]

export const PROVIDER_TYPES = Object.keys(CONFIG_SCHEMAS) as ProviderType[]

export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/

const ALL_CHANNELS: readonly Channel[] = ['sms', 'whatsapp', 'telegram', 'email']

const CHANNELS_BY_TYPE: Record<ProviderType, readonly Channel[]> = {
  twilio: ['sms'],
  vonage: ['sms'],
  http: ALL_CHANNELS,
  whatsapp_cloud: ['whatsapp'],
  telegram_gateway: ['telegram'],
  smtp: ['email'],
  sandbox: ALL_CHANNELS,
}

export const channelsOf = (type: ProviderType): readonly Channel[] => CHANNELS_BY_TYPE[type]

export const parseProviderConfig = <T extends ProviderType>(type: T, input: unknown): CheckResult<ProviderConfigs[T]> =>
  // The schema of a type yields the config of that type; TypeScript does not follow the index through `z.output`.
  check(CONFIG_SCHEMAS[type], input) as CheckResult<ProviderConfigs[T]>

export const resolveProvider = (type: ProviderType, stored: unknown): TypedProviderConfig =>
  ({ type, config: resolveDefaults(CONFIG_SCHEMAS[type], stored) }) as TypedProviderConfig

/** Members that are secret; `headers.*` are all of the headers. */
export const SECRET_MEMBERS: Record<ProviderType, readonly string[]> = {
  twilio: ['auth_token'],
  vonage: ['private_key', 'signature_secret'],
  http: ['headers.*', 'secret'],
  whatsapp_cloud: ['access_token', 'app_secret', 'verify_token'],
  telegram_gateway: ['token'],
  smtp: ['pass', 'dkim.private_key'],
  sandbox: [],
}

/** A config as it may be read by people: fingerprints in place of secrets. */
export function maskConfig(type: ProviderType, config: unknown): unknown {
  const isSecret = (path: string[]): boolean =>
    SECRET_MEMBERS[type].includes(path.join('.')) ||
    SECRET_MEMBERS[type].includes([...path.slice(0, -1), '*'].join('.'))
  return mapStrings(config, [], (value, path) => {
    if (isSecret(path)) return fingerprint(value)
    if (type !== 'http') return value
    if (path[0] === 'url') return maskQuery(value)
    // Gateways take their API keys in the body too. Whatever is beside a placeholder may be one.
    return path[0] === 'body' && /\w/.test(value.replaceAll(/\{\{\w+\}\}/g, '')) ? fingerprint(value) : value
  })
}

function mapStrings(value: unknown, path: string[], text: (value: string, path: string[]) => string): unknown {
  if (typeof value === 'string') return text(value, path)
  if (Array.isArray(value)) return value.map((member, at) => mapStrings(member, [...path, String(at)], text))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapStrings(member, [...path, name], text)]),
  )
}

function maskQuery(address: string): string {
  const at = address.indexOf('?')
  return at < 0 ? address : `${address.slice(0, at)}?${fingerprint(address.slice(at + 1))}`
}
