// A change from a revision as a computed update. In: the revision and the update. Out: its one stage, or null for operators that it does not
// know. With it a statement finds its document by `_id` alone, and compares the revision while it updates: that takes MongoDB a quarter less
// time than a revision in the filter, for which it plans a query.
//
// The stage fails for any other revision, because MongoDB raises an error for a `$switch` without a matching branch. It also fails for a
// document in which it would not do what the operators do: one with a list or a scalar on a path, or with no list where members are added or
// removed.
import type { Operators, RevisedDoc } from '../docs.ts'

type Expression = Record<string, unknown>

export interface ComputedChange {
  stage: { $set: Record<string, unknown> }
  /** Whether the stage may fail for the shape of the document, and not only for its revision. */
  dependsOnShape: boolean
}

export function computedChange(rev: number, update: Operators<RevisedDoc>): ComputedChange | null {
  const fields: Record<string, unknown> = {}
  const conditions: Expression[] = []
  for (const [operator, operands] of Object.entries(update)) {
    const compute = OPERATORS[operator]
    if (!compute) return null
    for (const [path, operand] of Object.entries(operands ?? {})) {
      if (operand === undefined) continue
      const computed = compute(path, operand)
      // The operators refuse two writes of one path.
      if (!computed || path in fields) return null
      fields[path] = computed.value
      if (computed.condition) conditions.push(computed.condition)
    }
  }
  const paths = Object.keys(fields)
  const parents = [...new Set(paths.flatMap(parentsOf))]
  if ('rev' in fields || parents.some(parent => parent in fields)) return null
  conditions.push(...parents.map(isObjectOrMissing))
  const isExpected = { $and: [{ $eq: ['$rev', rev] }, ...conditions] }
  // biome-ignore lint/suspicious/noThenProperty: MongoDB's word
  fields.rev = { $switch: { branches: [{ case: isExpected, then: rev + 1 }] } }
  return { stage: { $set: fields }, dependsOnShape: conditions.length > 0 }
}

/** Null for an operand that is not known. */
type Compute = (path: string, operand: unknown) => { value: unknown; condition?: Expression } | null

const OPERATORS: Record<string, Compute> = {
  $set: (_, operand) => ({ value: { $literal: operand } }),
  $unset(path) {
    const parent = parentsOf(path).at(-1)
    // A stage would make the parent of what is to be removed.
    return { value: '$$REMOVE', ...(parent && { condition: { $eq: [{ $type: `$${parent}` }, 'object'] } }) }
  },
  $push(path, operand) {
    const added = membersToPush(operand)
    return (
      added && { value: { $concatArrays: [listAt(path), { $literal: added }] }, condition: { $isArray: `$${path}` } }
    )
  },
  $pull(path, operand) {
    const pulled = membersToPull(operand)
    if (!pulled) return null
    const member = `$$this.${pulled.name}`
    // An `$in` of operators looks into a list, that of expressions does not.
    const isNoList = { $ne: [{ $type: member }, 'array'] }
    return {
      value: { $filter: { input: listAt(path), cond: { $not: [{ $in: [member, { $literal: pulled.values }] }] } } },
      condition: {
        $and: [{ $isArray: `$${path}` }, { $allElementsTrue: [{ $map: { input: listAt(path), in: isNoList } }] }],
      },
    }
  },
}

/** An expression that takes anything else for a list has an error of its own. */
const listAt = (path: string): Expression => ({ $cond: [{ $isArray: `$${path}` }, `$${path}`, []] })

/** Of `{ $each: […] }` without more. */
function membersToPush(operand: unknown): unknown[] | null {
  const { $each, ...others } = Object(operand) as { $each?: unknown[] }
  return $each && Object.keys(others).length === 0 ? $each : null
}

/** Of `{ name: { $in: [texts] } }`. */
function membersToPull(operand: unknown): { name: string; values: string[] } | null {
  const [[name, condition] = ['$', null], ...others] = Object.entries(Object(operand) as Record<string, unknown>)
  const { $in: values, ...rest } = Object(condition) as { $in?: string[] }
  const isKnown = !/[$.]/.test(name) && others.length === 0 && Object.keys(rest).length === 0
  return isKnown && values?.every(value => typeof value === 'string') ? { name, values } : null
}

/** `a` and `a.b` of `a.b.c`. */
const parentsOf = (path: string): string[] => {
  const names = path.split('.')
  return names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('.'))
}

const isObjectOrMissing = (path: string): Expression => ({ $in: [{ $type: `$${path}` }, ['object', 'missing']] })
