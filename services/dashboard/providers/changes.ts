// Changes a provider's config without asking for its secrets again. In: the config of the request, and the stored one. Out: the config to
// store, or every problem. Secrets that are omitted, or given as the fingerprints that are shown in their place, are kept. They must be
// given again when the config has another destination: otherwise an operator could read every secret by changing the address.
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../../infra/json-object.ts'
import { FINGERPRINT_PATTERN, type Fingerprinter } from '../../domain/tenancy/fingerprint.ts'
import type { CheckResult, InputProblem } from '../../domain/tenancy/problems.ts'
import { destinationOf } from '../../domain/tenancy/provider-destinations.ts'
import { maskConfig, secretMembersOf, shortSecretProblems } from '../../domain/tenancy/provider-secrets.ts'
import type { ProviderConfigs, ProviderType } from '../../domain/tenancy/provider-types/list.ts'
import { parseProviderConfig } from '../../domain/tenancy/providers.ts'

export interface StoredConfig<T extends ProviderType = ProviderType> {
  raw: unknown
  resolved: ProviderConfigs[T]
}

/** `stored`: of the same type; null when there is no stored config, or it cannot be unsealed. */
export function applyConfigChange<T extends ProviderType>(
  keyring: Fingerprinter,
  type: T,
  input: unknown,
  stored: StoredConfig<T> | null,
): CheckResult<unknown> {
  const kept: string[] = []
  const config = stored === null ? input : restoreSecrets(keyring, type, input, stored.raw, path => kept.push(path))
  const problems = fingerprintsIn(config)
  if (problems.length > 0) return { ok: false, problems }
  const checked = parseProviderConfig(type, config)
  if (!checked.ok) return checked
  const shortSecrets = shortSecretProblems(type, config, stored?.raw)
  if (shortSecrets.length > 0) return { ok: false, problems: shortSecrets }
  if (stored === null || kept.length === 0) return { ok: true, value: config }
  const sameDestination = isDeepStrictEqual(destinationOf(type, checked.value), destinationOf(type, stored.resolved))
  return sameDestination ? { ok: true, value: config } : { ok: false, problems: kept.map(secretNeededAgain) }
}

const secretNeededAgain = (path: string): InputProblem => ({
  path,
  message: 'must be given again: it would be sent to another address than before',
})

type Keep = (path: string) => unknown

function restoreSecrets(
  keyring: Fingerprinter,
  type: ProviderType,
  input: unknown,
  stored: unknown,
  keep: Keep,
): unknown {
  const restored = withoutFingerprints(input, stored, maskConfig(keyring, type, stored), [], keep)
  if (!isJsonObject(restored) || !isJsonObject(stored)) return restored
  return secretMembersOf(type).reduce((config, secret) => withSecret(config, stored, secret.split('.'), keep), restored)
}

/** Replaces a masked value by the stored one. */
function withoutFingerprints(input: unknown, stored: unknown, masked: unknown, path: string[], keep: Keep): unknown {
  if (typeof input === 'string') {
    if (input !== masked || input === stored) return input
    keep(path.join('.'))
    return stored
  }
  const member = (name: string, value: unknown) =>
    withoutFingerprints(value, memberOf(stored, name), memberOf(masked, name), [...path, name], keep)
  if (Array.isArray(input)) return input.map((value, at) => member(String(at), value))
  if (!isJsonObject(input)) return input
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, member(name, value)]))
}

/** Adds a secret that was omitted. Headers are kept only if all of them are omitted: a header that is missing among others was removed. */
function withSecret(config: JsonObject, stored: JsonObject, [name = '', inner]: string[], keep: Keep): JsonObject {
  const before = memberOf(stored, name)
  if (inner !== undefined && inner !== '*') {
    const [holder, holderBefore] = [memberOf(config, name), before]
    if (!isJsonObject(holder) || !isJsonObject(holderBefore)) return config
    return { ...config, [name]: withSecret(holder, holderBefore, [inner], () => keep(`${name}.${inner}`)) }
  }
  const isThere = inner === '*' ? isJsonObject(before) && Object.keys(before).length > 0 : typeof before === 'string'
  if (Object.hasOwn(config, name) || !isThere) return config
  keep(name)
  return { ...config, [name]: before }
}

/** A fingerprint that matches no stored value was copied from elsewhere, and must not be stored as a secret. */
function fingerprintsIn(value: unknown, path: string[] = []): InputProblem[] {
  if (typeof value === 'string')
    return FINGERPRINT_PATTERN.test(value)
      ? [{ path: path.join('.'), message: 'is the fingerprint of another value: give the value itself' }]
      : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => fingerprintsIn(member, [...path, name]))
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined
