// Settings by their dotted paths, as docs/settings.md lists them. In: nested settings, or words such as
// `code.length=8`. Out: leaves, a patch, or what differs.
import { UsageError } from './failures.ts'

export type Leaves = Map<string, unknown>

const isGroup = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0

/** Each setting by its path. A list or an empty object is one setting. */
export function leavesOf(settings: object, above = ''): Leaves {
  return new Map(
    Object.entries(settings).flatMap(([name, value]) => {
      const path = `${above}${name}`
      return isGroup(value) ? [...leavesOf(value, `${path}.`)] : [[path, value] as const]
    }),
  )
}

/** What stands at a path, which may be a group; undefined when there is nothing. */
export function valueAt(settings: object, path: string): unknown {
  let value: unknown = settings
  for (const name of path.split('.'))
    value =
      typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
  return value
}

/** `code.length=8` and `locale=de` as `{ code: { length: 8 }, locale: 'de' }`. A value that is not JSON is a text. */
export function patchOf(assignments: readonly string[]): object {
  const patch: Patch = Object.create(null)
  for (const assignment of assignments) {
    const at = assignment.indexOf('=')
    if (at < 1) throw new UsageError(`${assignment} is not of the form path=value`)
    const names = assignment.slice(0, at).split('.')
    const last = names.pop() ?? ''
    let group = patch
    for (const name of names) {
      const inside = group[name] ?? Object.create(null)
      if (!isObject(inside)) throw new UsageError(`${assignment} is inside another path that is set`)
      group[name] = inside
      group = inside
    }
    group[last] = parseValue(assignment.slice(at + 1))
  }
  return patch
}

interface Patch {
  [name: string]: unknown
}

const isObject = (value: unknown): value is Patch => typeof value === 'object' && value !== null

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export interface Difference {
  path: string
  /** Undefined where it is missing. */
  left: unknown
  right: unknown
}

export function differencesOf(left: Leaves, right: Leaves): Difference[] {
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort()
  return paths
    .map(path => ({ path, left: left.get(path), right: right.get(path) }))
    .filter(one => JSON.stringify(one.left) !== JSON.stringify(one.right))
}
