// In: the bootstrap file as parsed JSON of any shape. Out: problems between several members, such as an id that is used twice.
// The rules are checked even if the schema finds problems, so that one start reports everything. They skip members of the wrong shape.

import { canonicalCidr } from '../address-lists/cidr.ts'
import { CONFIRM_MOST_ADDRESSES, findUnconfirmedIn } from '../address-lists/most-addresses.ts'
import { addressesOf } from '../address-lists/reserved.ts'
import { kindAndModeOf, secretPartOf } from '../tenancy/api-keys.ts'
import { type InputProblem, underPath } from '../tenancy/problems.ts'
import { PROVIDER_TYPES } from '../tenancy/provider-types/list.ts'
import { channelProblems, parseProviderConfig } from '../tenancy/providers.ts'
import { type ObjectAtPath, objectsIn, wholeFile } from './objects-at-path.ts'

/** The least length of a key in production, after its prefix. */
const MIN_KEY_LENGTH = 24

export function ruleProblems(file: unknown, { production }: { production: boolean }): InputProblem[] {
  const whole = wholeFile(file)
  const companies = objectsIn(whole, 'companies')
  const apps = companies.flatMap(company => objectsIn(company, 'apps'))
  const keys = apps.flatMap(app => objectsIn(app, 'keys'))
  const providers = apps.map(app => objectsIn(app, 'providers'))
  const prices = objectsIn(whole, 'prices')
  const ranges = objectsIn(whole, 'ip_lists')
  return [
    ...findRepeats(companies, 'id'),
    ...findRepeats(apps, 'id'),
    ...findRepeats(keys, 'id'),
    ...findRepeats(keys, 'key'),
    ...keys.flatMap(keyProblems),
    ...(production ? keys.flatMap(shortKeyProblems) : []),
    ...providers.flatMap(items => findRepeats(items, 'name')),
    ...providers.flat().flatMap(providerProblems),
    ...findRepeats(
      prices,
      'country',
      ({ value }) => `${value.channel} ${value.kind} ${value.country} ${value.effective_at}`,
    ),
    ...unconfirmedRanges(ranges),
  ]
}

function keyProblems({ path, value }: ObjectAtPath): InputProblem[] {
  const kindAndMode = kindAndModeOf(text(value.key))
  return (['kind', 'mode'] as const).flatMap(name => {
    const written = value[name]
    if (written === undefined && kindAndMode[name] === undefined) {
      return [{ path: `${path}.${name}`, message: 'is required, because the key has no prefix that says it' }]
    }
    if (written === undefined || kindAndMode[name] === undefined || written === kindAndMode[name]) return []
    return [{ path: `${path}.${name}`, message: `contradicts the key, whose prefix says "${kindAndMode[name]}"` }]
  })
}

function shortKeyProblems({ path, value }: ObjectAtPath): InputProblem[] {
  const key = text(value.key)
  if (key === undefined || secretPartOf(key).length >= MIN_KEY_LENGTH) return []
  const message = `must have at least ${MIN_KEY_LENGTH} characters after its prefix in production`
  return [{ path: `${path}.key`, message }]
}

function providerProblems({ path, value }: ObjectAtPath): InputProblem[] {
  const type = PROVIDER_TYPES.find(known => known === value.type)
  if (type === undefined) return []
  const config = parseProviderConfig(type, value.config === undefined ? {} : value.config)
  return [
    ...channelProblems(`${path}.channel`, type, value.channel),
    ...(config.ok ? [] : underPath(`${path}.config`, config.problems)),
  ]
}

/** For each class whose ranges hold more than half of all addresses without being confirmed: those that do so alone, or the largest. */
function unconfirmedRanges(ranges: ObjectAtPath[]): InputProblem[] {
  const unconfirmed = ranges.flatMap(({ path, value }) =>
    typeof value.cidr === 'string' && canonicalCidr(value.cidr) !== null && value.confirm !== true
      ? [{ path: `${path}.cidr`, class: value.class, set: addressesOf([value.cidr]) }]
      : [],
  )
  return [...new Set(unconfirmed.map(range => range.class))].flatMap(addressClass => {
    const ofClass = unconfirmed.filter(range => range.class === addressClass)
    return findUnconfirmedIn(ofClass).map(({ path }) => ({ path, message: CONFIRM_MOST_ADDRESSES }))
  })
}

/** The message names the path where the value was used first, not the value: it may be a secret key. */
function findRepeats(
  items: ObjectAtPath[],
  name: string,
  identity = ({ value }: ObjectAtPath): unknown => value[name],
): InputProblem[] {
  const first = new Map<unknown, string>()
  return items.flatMap(item => {
    const value = identity(item)
    const path = `${item.path}.${name}`
    const before = first.get(value)
    if (typeof value !== 'string') return []
    if (before === undefined) first.set(value, path)
    return before === undefined ? [] : [{ path, message: `is the same as ${before}` }]
  })
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
