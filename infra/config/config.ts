// In: the environment and the roles of the command line. Out: every setting, checked, or `ConfigProblems` with every problem. It runs once
// at start, and no other file reads the environment. An empty variable counts as absent.

import { z } from 'zod'
import { deepFreeze } from '../deep-freeze.ts'
import { HOUR_MS } from '../time.ts'
import { type Engine, readEngine } from './engine.ts'
import { ConfigProblems, type SettingProblem } from './problems.ts'
import { neededSecrets, needsSecret, unusedSecrets } from './role-secrets.ts'
import { ROLES, type Role, readRoles } from './roles.ts'
import {
  adminTokens,
  codeSecrets,
  dataKeyIds,
  dataKeys,
  HOW_TO_MAKE,
  MIN_TOKEN_LENGTH,
  type Secrets,
  secretToken,
} from './secrets.ts'
import {
  cidrs,
  delays,
  engineUrl,
  engineUrls,
  host,
  oneOf,
  port,
  portOrOff,
  privateTargets,
  publicUrl,
  wholeNumber,
} from './values.ts'
import { type Environment, readVariables } from './variables.ts'

export { ConfigProblems, type Engine, ROLES, type Role, type Secrets }

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Config {
  readonly roles: readonly Role[]
  readonly production: boolean
  readonly engine: Engine
  readonly dataDir: string
  /** MiB of each half of the young generation; null for Node's own. */
  readonly heapYoungMb: number | null
  readonly bootstrapFile: string | null
  readonly logLevel: LogLevel
  readonly metricsPort: number | null
  /** Opens /metrics on the public port, and nothing else. */
  readonly metricsToken: string | null
  /** Where spans are sent, as OTLP over HTTP; null where none are recorded. */
  readonly tracesUrl: string | null
  readonly http: {
    readonly host: string
    /** 0: any free port. */
    readonly port: number
    /** The address at which others reach this process. Never ends in a slash. Null when it is not set: providers then give vendors no
     *  callback address, callbacks that come nevertheless are checked against the request's own host, and the API reference and the
     *  guide to the demo show the local address. */
    readonly publicUrl: string | null
    readonly maxBodyBytes: number
    readonly maxInFlight: number
    readonly trustedProxies: readonly string[]
  }
  /** How long a process that is told to stop is not ready and still serves everything. */
  readonly stopDelayMs: number
  readonly provider: {
    readonly timeoutMs: number
    /** The most calls that this process has under way at one provider of an app. */
    readonly maxCalls: number
    /** How long to wait for a receipt after a provider call whose outcome is unknown. */
    readonly unknownWaitMs: number
  }
  /** The waits after a failed attempt, in order, in milliseconds. */
  readonly backoff: { readonly channel: readonly number[]; readonly webhook: readonly number[] }
  /** The ranges in which private addresses and plain http may be called. */
  readonly privateTargets: 'all' | readonly string[]
  /** Null in development if the environment gives none: infra/config/development-secrets.ts then supplies them. Empty if no role of this
   *  process uses them (role-secrets.ts), and, in production, if there are no operators. */
  readonly secrets: { readonly [name in keyof Secrets]: Secrets[name] | null }
  /** Ids of data keys that are lost. What they sealed cannot be read any more. */
  readonly lostDataKeys: readonly string[]
}

const PORT = 3000
const MIB = 2 ** 20

const settings = z.object({
  NODE_ENV: oneOf(['production', 'development', 'test']).optional(),
  ENGINE: oneOf(['embedded']).optional(),
  MONGODB_URL: engineUrl('mongodb', 'mongodb+srv').optional(),
  AMQP_URL: engineUrls('amqp', 'amqps').optional(),
  HOST: host().default('127.0.0.1'),
  PORT: port().default(PORT),
  PUBLIC_URL: publicUrl().optional(),
  METRICS_PORT: portOrOff().default(null),
  TRUSTED_PROXIES: cidrs().default([]),
  ALLOW_PRIVATE_TARGETS: privateTargets().default([]),
  MAX_BODY_BYTES: wholeNumber(1, 64 * MIB).default(16_384),
  MAX_IN_FLIGHT: wholeNumber(1, 1_000_000).default(2000),
  STOP_DELAY: wholeNumber(0, HOUR_MS).default(0),
  PROVIDER_TIMEOUT: wholeNumber(1, HOUR_MS).default(8000),
  PROVIDER_CALLS: wholeNumber(1, 10_000).default(200),
  UNKNOWN_WAIT: wholeNumber(0, HOUR_MS).default(15_000),
  CHANNEL_BACKOFF: delays().default([1000, 5000, 15_000]),
  WEBHOOK_BACKOFF: delays().default([5000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000]),
  DATA_DIR: z.string().default('./.data'),
  HEAP_YOUNG_MB: wholeNumber(1, 256).optional(),
  BOOTSTRAP_FILE: z.string().optional(),
  LOG_LEVEL: oneOf(LOG_LEVELS).default('info'),
  CODE_SECRETS: codeSecrets().optional(),
  DATA_KEYS: dataKeys().optional(),
  LOST_DATA_KEYS: dataKeyIds().default([]),
  ADMIN_TOKEN: adminTokens().optional(),
  METRICS_TOKEN: secretToken().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: publicUrl().optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: publicUrl().optional(),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none']).default('otlp'),
  OTEL_SDK_DISABLED: oneOf(['true', 'false']).default('false'),
})

/** In production the token of an operator must be too long to guess. */
const productionSettings = settings.extend({
  ADMIN_TOKEN: adminTokens(MIN_TOKEN_LENGTH).optional(),
  METRICS_TOKEN: secretToken(MIN_TOKEN_LENGTH).optional(),
})

const VARIABLES = settings.keyof().options
export type Variable = (typeof VARIABLES)[number]

/** What a variable is when it is not set; undefined where it has no default. */
export const defaultOf = (name: Variable): unknown => settings.parse({})[name]

export function readConfig(env: Environment, roleNames: readonly string[]): Config {
  const { roles, problems: roleProblems } = readRoles(roleNames)
  const { texts, problems: fileProblems, isGiven, givenAs } = readVariables(env, VARIABLES, unusedSecrets(roles))
  const production = texts.NODE_ENV === 'production'
  const parsed = (production ? productionSettings : settings).safeParse(texts)
  const { engine, problems: engineProblems } = readEngine(
    {
      ENGINE: texts.ENGINE,
      MONGODB_URL: isGiven('MONGODB_URL') ? (texts.MONGODB_URL ?? UNREADABLE) : undefined,
      AMQP_URL: isGiven('AMQP_URL') ? (texts.AMQP_URL ?? UNREADABLE) : undefined,
    },
    { production, everyRole: roles.length === ROLES.length || roleProblems.length > 0 },
  )
  const missing = neededSecrets(roles).filter(name => production && !isGiven(name))
  const problems: SettingProblem[] = [
    ...fileProblems,
    ...(parsed.error?.issues ?? []).map(({ path, message }) => ({ name: givenAs(path.join('.')), message })),
    ...portProblems(texts),
    ...(parsed.success ? lostKeyProblems(parsed.data) : []),
    ...engineProblems,
    ...missing.map(name => ({ name, message: `is missing: production needs it. ${HOW_TO_MAKE[name]}` })),
    ...roleProblems,
  ]
  if (!parsed.success || problems.length > 0)
    throw new ConfigProblems(problems, { production, bootstrapFile: texts.BOOTSTRAP_FILE ?? null })
  const values = parsed.data
  // Settings do not change while a process runs.
  return deepFreeze({
    roles,
    production,
    engine,
    dataDir: values.DATA_DIR,
    heapYoungMb: values.HEAP_YOUNG_MB ?? null,
    bootstrapFile: values.BOOTSTRAP_FILE ?? null,
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT,
    metricsToken: values.METRICS_TOKEN ?? null,
    tracesUrl: tracesUrl(values),
    http: {
      host: values.HOST,
      port: values.PORT,
      publicUrl: values.PUBLIC_URL ?? null,
      maxBodyBytes: values.MAX_BODY_BYTES,
      maxInFlight: values.MAX_IN_FLIGHT,
      trustedProxies: values.TRUSTED_PROXIES,
    },
    stopDelayMs: values.STOP_DELAY,
    provider: {
      timeoutMs: values.PROVIDER_TIMEOUT,
      maxCalls: values.PROVIDER_CALLS,
      unknownWaitMs: values.UNKNOWN_WAIT,
    },
    backoff: { channel: values.CHANNEL_BACKOFF, webhook: values.WEBHOOK_BACKOFF },
    privateTargets: values.ALLOW_PRIVATE_TARGETS,
    secrets: {
      code: values.CODE_SECRETS ?? (needsSecret(roles, 'CODE_SECRETS') ? null : []),
      data: values.DATA_KEYS ?? null,
      adminTokens: values.ADMIN_TOKEN ?? (production ? [] : null),
    },
    lostDataKeys: values.LOST_DATA_KEYS,
  })
}

/** By the rules of OpenTelemetry: the address for traces alone is taken as it is. */
function tracesUrl(values: z.output<typeof settings>): string | null {
  if (values.OTEL_SDK_DISABLED === 'true' || values.OTEL_TRACES_EXPORTER === 'none') return null
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = values
  return own ?? (base === undefined ? null : `${base}/v1/traces`)
}

/** Stands for the URL in a file that cannot be read, which is a problem of its own. */
const UNREADABLE = 'unreadable'

function portProblems({
  PORT: http = `${PORT}`,
  METRICS_PORT: metrics,
}: {
  PORT?: string
  METRICS_PORT?: string
}): SettingProblem[] {
  const same = Number(metrics) === Number(http) && Number(http) !== 0
  return same
    ? [{ name: 'METRICS_PORT', message: 'must not be the same as PORT: /metrics is open to anyone there' }]
    : []
}

/** A new key needs another id than the lost one: sealed texts name the key that sealed them. */
function lostKeyProblems({ DATA_KEYS: keys = [], LOST_DATA_KEYS: lost }: z.output<typeof settings>): SettingProblem[] {
  const reused = keys.some(({ id }) => lost.includes(id))
  return reused
    ? [{ name: 'LOST_DATA_KEYS', message: 'names a key that DATA_KEYS has: give the new one another id' }]
    : []
}
