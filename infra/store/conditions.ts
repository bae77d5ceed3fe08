// Reads a filter. In: a filter. Out: the condition that each path has to meet. The adapters and the check of indexes share it.
import type { Comparison, Doc, Filter } from './docs.ts'

/** A condition in its long form: `{ status: 'sent' }` is `{ status: { $eq: 'sent' } }`. */
export type Condition = Omit<Comparison, '$eq'> & { $eq?: unknown }

/** The conditions by path, without `$or`. Throws where a member is undefined: the filter would match more than its author meant. */
export function conditionsOf<T extends Doc>(filter: Filter<T>): Map<string, Condition> {
  const conditions = new Map<string, Condition>()
  for (const [path, value] of Object.entries(filter)) {
    if (path === '$or') continue
    refuseUndefined(path, value)
    conditions.set(path, isComparison(value) ? value : { $eq: value })
  }
  return conditions
}

export const branchesOf = <T extends Doc>(filter: Filter<T>): readonly Filter<T>[] | undefined => filter.$or

/** Throws where a member is undefined, or where `$or` has no branches. */
export function refuseVagueFilter<T extends Doc>(filter: Filter<T>): void {
  conditionsOf(filter)
  if ('$or' in filter && !filter.$or?.length) throw new TypeError('A filter has an $or without branches')
  for (const branch of filter.$or ?? []) refuseVagueFilter(branch)
}

/** The values that a condition allows, where it lists them. */
export function exactValuesOf(condition: Condition | undefined): readonly unknown[] | undefined {
  if (!condition) return undefined
  return '$eq' in condition ? [condition.$eq] : condition.$in
}

export const isRange = (condition: Condition | undefined): boolean =>
  condition !== undefined && ['$gt', '$gte', '$lt', '$lte'].some(operator => operator in condition)

/** The `_id` that an upsert inserts. */
export function idToInsert<T extends Doc>(filter: Filter<T>): string {
  const condition = conditionsOf(filter).get('_id')
  const id = condition && '$eq' in condition ? condition.$eq : undefined
  if (typeof id !== 'string') throw new TypeError('An upsert needs the one _id it inserts under')
  return id
}

const isComparison = (value: unknown): value is Comparison =>
  typeof value === 'object' && value !== null && !(value instanceof Date)

function refuseUndefined(path: string, value: unknown): void {
  const members = isComparison(value) ? Object.values(value) : [value]
  if (members.includes(undefined)) throw new TypeError(`A filter leaves ${path} undefined`)
}

/** A query without its values, which may be personal data, for an error message. */
export const shapeOf = (query: unknown): string =>
  JSON.stringify(query, (_, part) => (part instanceof Object ? part : '?'))
