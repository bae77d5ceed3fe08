// A provider's config that somebody changes without knowing its secrets. In: the config as written now, and the one stored. Out: the
// config to store, or every problem. Secrets that are left out, or given back as the fingerprints that are shown in their place, stay
// as they are; but not when the config leads elsewhere than before, or whoever may change an address could read every secret there.
import { isDeepStrictEqual } from 'node:util'
import { FINGERPRINT } from '../../domain/tenancy/fingerprint.ts'
import type { Checked, Problem } from '../../domain/tenancy/problems.ts'
import { destinationOf } from '../../domain/tenancy/provider.destinations.ts'
import {
  type ProviderConfigs,
  type ProviderType,
  parseProviderConfig,
  SECRETS,
  shownConfig,
} from '../../domain/tenancy/providers.ts'

export interface StoredConfig<T extends ProviderType = ProviderType> {
  written: unknown
  resolved: ProviderConfigs[T]
}

/** `stored`: of the same type; null when there is none whose secrets could be kept. */
export function changedConfig<T extends ProviderType>(
  type: T,
  given: unknown,
  stored: StoredConfig<T> | null,
): Checked<unknown> {
  const kept: string[] = []
  const config = stored === null ? given : merged(type, given, stored.written, path => kept.push(path))
  const problems = fingerprintsIn(config)
  if (problems.length > 0) return { ok: false, problems }
  const checked = parseProviderConfig(type, config)
  if (!checked.ok) return checked
  if (stored === null || kept.length === 0) return { ok: true, value: config }
  const moved = !isDeepStrictEqual(destinationOf(type, checked.value), destinationOf(type, stored.resolved))
  return moved ? { ok: false, problems: kept.map(askedAgain) } : { ok: true, value: config }
}

const askedAgain = (path: string): Problem => ({
  path,
  message: 'give it again: it would be sent to another address than before',
})

type Members = Record<string, unknown>
type Keep = (path: string) => unknown

function merged(type: ProviderType, given: unknown, stored: unknown, keep: Keep): unknown {
  const restored = withoutFingerprints(given, stored, shownConfig(type, stored), [], keep)
  if (!isMembers(restored) || !isMembers(stored)) return restored
  return SECRETS[type].reduce((config, secret) => withSecret(config, stored, secret.split('.'), keep), restored)
}

/** What was shown in place of a value and comes back is the value. */
function withoutFingerprints(given: unknown, stored: unknown, shown: unknown, path: string[], keep: Keep): unknown {
  if (typeof given === 'string') {
    if (given !== shown || given === stored) return given
    keep(path.join('.'))
    return stored
  }
  const member = (name: string, value: unknown) =>
    withoutFingerprints(value, memberOf(stored, name), memberOf(shown, name), [...path, name], keep)
  if (Array.isArray(given)) return given.map((value, at) => member(String(at), value))
  if (!isMembers(given)) return given
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, member(name, value)]))
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
    return FINGERPRINT.test(value)
      ? [{ path: path.join('.'), message: 'is the fingerprint of another value: give the value itself' }]
      : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => fingerprintsIn(member, [...path, name]))
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Members)[name] : undefined

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
