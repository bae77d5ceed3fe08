// What an app's provider may be: its name, the channel it serves, and how its config is parsed and completed.
import { z } from 'zod'
import type { Channel } from '../../../machines/channels.ts'
import { country, countryOrAll } from '../../../machines/settings.values.ts'
import { resolveDefaults } from './parse-stored.ts'
import { type CheckResult, check, type InputProblem } from './problems.ts'
import { configSchema } from './provider-configs.ts'
import {
  channelsOf,
  declarationOf,
  PROVIDER_TYPES,
  type ProviderConfigs,
  type ProviderType,
} from './provider-types/list.ts'

/** A union that `type` discriminates. */
export type TypedProviderConfig = { [T in ProviderType]: { type: T; config: ProviderConfigs[T] } }[ProviderType]

export const MAX_PROVIDERS_PER_APP = 100

/** Part of the address that vendors call back, `/callbacks/{app_id}/{name}`. */
export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/
export const providerName = z
  .string()
  .regex(PROVIDER_NAME, 'must be 1 to 63 of a–z, 0–9, "-" and "_", the first a letter or digit')

/** A thousand units of the currency. */
const MAX_COST_MICROS = 1e9

/** Null: all countries. */
export const providerCountries = z
  .array(country)
  .min(1, 'must name a country, or be null for all of them')
  .refine(codes => new Set(codes).size === codes.length, 'names a country twice')
  .nullable()

/** What the vendor charges for a message, in micro-units; `*`: in each country that has no entry of its own. */
export const providerCost = z.record(countryOrAll, z.int().min(0).max(MAX_COST_MICROS))

/** The channel of a type that serves only one: operators need not name it. */
export const soleChannel = (type: ProviderType): Channel | undefined =>
  channelsOf(type).length === 1 ? channelsOf(type)[0] : undefined

export function channelProblems(path: string, type: ProviderType, channel: unknown): InputProblem[] {
  const served: readonly unknown[] = channelsOf(type)
  if (channel === undefined && soleChannel(type) === undefined) {
    return [{ path, message: `is required: "${type}" serves several channels` }]
  }
  if (channel === undefined || served.includes(channel) || typeof channel !== 'string') return []
  return [{ path, message: `must be ${served.join(' or ')}: "${type}" serves no other` }]
}

const schemas = (isSet: boolean): Record<string, z.ZodType> =>
  Object.fromEntries(PROVIDER_TYPES.map(type => [type, configSchema(declarationOf(type), isSet)]))
const SET_SCHEMAS = schemas(true)
const STORED_SCHEMAS = schemas(false)

/** For a config that is being set. */
export const parseProviderConfig = <T extends ProviderType>(type: T, input: unknown): CheckResult<ProviderConfigs[T]> =>
  // TypeScript does not see that the schema of a type yields the config of that type.
  check(SET_SCHEMAS[type] ?? z.never(), input) as CheckResult<ProviderConfigs[T]>

export const resolveProvider = (type: ProviderType, stored: unknown): TypedProviderConfig =>
  ({ type, config: resolveDefaults(STORED_SCHEMAS[type] ?? z.never(), stored) }) as TypedProviderConfig
