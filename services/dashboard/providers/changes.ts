// A provider's config that somebody changes without knowing its secrets. In: the config as written now, and the one stored. Out: the
// config to store, or every problem. Secrets that are left out, or given back as the fingerprints that are shown in their place, stay
// as they are; but not when the config leads elsewhere than before, or whoever may change an address could read every secret there.
import { isDeepStrictEqual } from 'node:util'
import { FINGERPRINT_PATTERN } from '../../domain/tenancy/fingerprint.ts'
import type { CheckResult, Problem } from '../../domain/tenancy/problems.ts'
import { destinationOf } from '../../domain/tenancy/provider.destinations.ts'
import {
  maskConfig,
  type ProviderConfigs,
  type ProviderType,
  parseProviderConfig,
  SECRET_MEMBERS,
} from '../../domain/tenancy/providers.ts'

export interface StoredConfig<T extends ProviderType = ProviderType> {
  raw: unknown
  resolved: ProviderConfigs[T]
}

/** `stored`: of the same type; null when there is none whose secrets could be kept. */
export function applyConfigChange<T extends ProviderType>(
  type: T,
  input: unknown,
  stored: StoredConfig<T> | null,
): CheckResult<unknown> {
  const kept: string[] = []
  const config = stored === null ? input : restoreSecrets(type, input, stored.raw, path => kept.push(path))
  const problems = fingerprintsIn(config)
  if (problems.length > 0) return { ok: false, problems }
  const checked = parseProviderConfig(type, config)
  if (!checked.ok) return checked
  if (stored === null || kept.length === 0) return { ok: true, value: config }
  const leadsElsewhere = !isDeepStrictEqual(destinationOf(type, checked.value), destinationOf(type, stored.resolved))
  return leadsElsewhere ? { ok: false, problems: kept.map(secretNeededAgain) } : { ok: true, value: config }
}

const secretNeededAgain = (path: string): Problem => ({
  path,
  message: 'give it again: it would be sent to another address than before',
})

type Members = Record<string, unknown>
type Keep = (path: string) => unknown

function restoreSecrets(type: ProviderType, input: unknown, stored: unknown, keep: Keep): unknown {
  const restored = withoutFingerprints(input, stored, maskConfig(type, stored), [], keep)
  if (!isMembers(restored) || !isMembers(stored)) return restored
  return SECRET_MEMBERS[type].reduce((config, secret) => withSecret(config, stored, secret.split('.'), keep), restored)
}

/** What was shown in place of a value and comes back is the value. */
function withoutFingerprints(input: unknown, stored: unknown, masked: unknown, path: string[], keep: Keep): unknown {
  if (typeof input === 'string') {
    if (input !== masked || input === stored) return input
    keep(path.join('.'))
    return stored
  }
  const member = (name: string, value: unknown) =>
    withoutFingerprints(value, memberOf(stored, name), memberOf(masked, name), [...path, name], keep)
  if (Array.isArray(input)) return input.map((value, at) => member(String(at), value))
  if (!isMembers(input)) return input
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, member(name, value)]))
}

/** One that was left out. `headers.*` are left out together; one that is missing among others was taken away. */
function withSecret(config: Members, stored: Members, [name = '', inner]: string[], keep: Keep): Members {
  const before = memberOf(stored, name)
  if (inner !== undefined && inner !== '*') {
    const [holder, holderBefore] = [memberOf(config, name), before]
    if (!isMembers(holder) || !isMembers(holderBefore)) return config
    return { ...config, [name]: withSecret(holder, holderBefore, [inner], () => keep(`${name}.${inner}`)) }
  }
  const isThere = inner === '*' ? isMembers(before) && Object.keys(before).length > 0 : typeof before === 'string'
  if (Object.hasOwn(config, name) || !isThere) return config
  keep(name)
  return { ...config, [name]: before }
}

/** What still looks like one was copied from somewhere else. As a secret it would be worth nothing. */
function fingerprintsIn(value: unknown, path: string[] = []): Problem[] {
  if (typeof value === 'string')
    return FINGERPRINT_PATTERN.test(value)
      ? [{ path: path.join('.'), message: 'is the fingerprint of another value: give the value itself' }]
      : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => fingerprintsIn(member, [...path, name]))
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Members)[name] : undefined

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
