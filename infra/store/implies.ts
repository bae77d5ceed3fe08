// Whether every value that meets a filter's condition also meets the condition of a partial index. False when that is not certain.
import { type Condition, exactValuesOf } from './conditions.ts'

export function implies(known: Condition | undefined, wanted: Condition): boolean {
  if (!known) return false
  return Object.entries(wanted).every(([operator, value]) => RULES[operator]?.(known, value) ?? false)
}

type Rule = (had: Condition, value: unknown) => boolean

const BOUNDS = ['$gt', '$gte', '$lt', '$lte'] as const

const every = (had: Condition, holds: (point: unknown) => boolean): boolean => exactValuesOf(had)?.every(holds) ?? false

/** NaN unless both are text or both are numbers. */
const compare = (a: unknown, b: unknown): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return a === b ? 0 : a < b ? -1 : 1
  return Number.NaN
}

const RULES: Record<string, Rule> = {
  $eq: (had, value) => every(had, point => point === value),
  $in: (had, values) => Array.isArray(values) && every(had, point => values.includes(point)),
  $exists: (had, value) =>
    had.$exists === value ||
    (value === true && (every(had, point => point !== null) || BOUNDS.some(bound => bound in had))),
  $gt: (had, value) =>
    every(had, point => compare(point, value) > 0) || compare(had.$gt, value) >= 0 || compare(had.$gte, value) > 0,
  $gte: (had, value) =>
    every(had, point => compare(point, value) >= 0) || compare(had.$gt, value) >= 0 || compare(had.$gte, value) >= 0,
  $lt: (had, value) =>
    every(had, point => compare(point, value) < 0) || compare(had.$lt, value) <= 0 || compare(had.$lte, value) < 0,
  $lte: (had, value) =>
    every(had, point => compare(point, value) <= 0) || compare(had.$lt, value) <= 0 || compare(had.$lte, value) <= 0,
}
