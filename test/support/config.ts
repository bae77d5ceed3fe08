// Valid settings for tests, and the problems of invalid ones.
import { Buffer } from 'node:buffer'
import { ConfigProblems, readConfig } from '../../infra/config/config.ts'
import type { SettingProblem } from '../../infra/config/problems.ts'

export const MONGODB_URL = 'mongodb://m.test:27017/countersign'
export const AMQP_URL = 'amqp://r.test'
export const engineUrls = { MONGODB_URL, AMQP_URL }

export const base64Key = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64')

export const secrets = {
  CODE_SECRETS: `c:${base64Key(32)}`,
  DATA_KEYS: `d:${base64Key(32)}`,
  ADMIN_TOKEN: 'a-long-token-of-the-operator',
}

/** The times of the channel actor, for what needs no whole configuration. */
export const TEST_PROVIDER_CONFIG = {
  provider: { timeoutMs: 10_000, maxCalls: 200, unknownWaitMs: 15_000 },
  backoff: { channel: [1_000, 15_000], webhook: [] },
  http: { publicUrl: null },
}

type Env = Record<string, string | undefined>

export function configProblems(env: Env, roles: string[] = []): readonly SettingProblem[] {
  try {
    readConfig(env, roles)
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems
    throw error
  }
  return []
}

/** The names of the variables that are wrong. */
export const wrongVariables = (env: Env, roles: string[] = []): string[] =>
  configProblems(env, roles).map(({ name }) => name)
