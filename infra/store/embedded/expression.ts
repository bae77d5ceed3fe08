// Computes an expression over one document, as MongoDB's aggregation does: `{ $add: ['$n', 1] }`. In: the document and the expression.
// Out: a value, or undefined for what MongoDB calls missing. The operators below are all there are. Each means what it means in MongoDB,
// which those of the npm package mingo do not always.
import { compareAcrossTypes, isNullish, isObject, member, truthy } from './values.ts'

interface Scope {
  root: unknown
  /** The values of `$$name`. */
  variables: Readonly<Record<string, unknown>>
}

type Operator = (operand: unknown, scope: Scope) => unknown

export function evaluate(expression: unknown, scope: Scope): unknown {
  if (typeof expression === 'string')
    return expression.startsWith('$') ? resolveReference(expression.slice(1), scope) : expression
  if (Array.isArray(expression)) return expression.map(each => evaluate(each, scope) ?? null)
  if (!isObject(expression)) return expression
  const [name, ...others] = Object.keys(expression)
  if (!name?.startsWith('$')) return evaluateMembers(expression, scope)
  const operator = OPERATORS[name]
  if (!operator || others.length > 0)
    throw new TypeError(`A computed update knows no ${[name, ...others].join(' with ')}`)
  return operator(expression[name], scope)
}

function evaluateMembers(expression: Record<string, unknown>, scope: Scope): Record<string, unknown> {
  const values = Object.entries(expression).map(([name, each]) => [name, evaluate(each, scope)])
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** `$a.b` or `$$name.a.b`, without the first `$`. */
function resolveReference(path: string, { root, variables }: Scope): unknown {
  const [first = '', ...rest] = path.split('.')
  if (!first.startsWith('$')) return readPath(root, [first, ...rest])
  if (first === '$REMOVE') return undefined
  if (!Object.hasOwn(variables, first.slice(1))) throw new TypeError(`A computed update knows no $${first}`)
  return readPath(variables[first.slice(1)], rest)
}

/** A list on the path stands for the values that its objects have there. */
function readPath(value: unknown, names: readonly string[]): unknown {
  const [name, ...rest] = names
  if (name === undefined) return value
  if (Array.isArray(value))
    return value
      .filter(isObject)
      .map(each => readPath(each, names))
      .filter(each => each !== undefined)
  return isObject(value) ? readPath(member(value, name), rest) : undefined
}

/** The operands of an operator that takes several. A single operand need not be in a list. */
const evaluateAll = (operand: unknown, scope: Scope): unknown[] =>
  (Array.isArray(operand) ? operand : [operand]).map(each => evaluate(each, scope))

const evaluateExactly = (count: number, operand: unknown, scope: Scope): unknown[] => {
  const values = evaluateAll(operand, scope)
  if (values.length !== count)
    throw new TypeError(`A computed update gives an operator ${values.length} of ${count} operands`)
  return values
}

/** Null when an operand is null or missing. Throws for any other operand that is not a number. */
const arithmetic =
  (count: number | undefined, compute: (...numbers: number[]) => number): Operator =>
  (operand, scope) => {
    const values = count === undefined ? evaluateAll(operand, scope) : evaluateExactly(count, operand, scope)
    if (values.some(isNullish)) return null
    if (values.some(value => typeof value !== 'number'))
      throw new TypeError('A computed update calculates with no number')
    return compute(...(values as number[]))
  }

const comparison =
  (holds: (order: number) => boolean): Operator =>
  (operand, scope) => {
    const [a, b] = evaluateExactly(2, operand, scope)
    return holds(compareAcrossTypes(a, b))
  }

/** A single operand that is a list stands for its members. */
const evaluateSpread = (operand: unknown, scope: Scope): unknown[] => {
  const values = evaluateAll(operand, scope)
  return values.length === 1 && Array.isArray(values[0]) ? values[0] : values
}

const extreme =
  (better: (order: number) => boolean): Operator =>
  (operand, scope) =>
    evaluateSpread(operand, scope).reduce((a, b) => {
      if (isNullish(b)) return a
      return a === null || better(compareAcrossTypes(b, a)) ? b : a
    }, null)

/** As `$sum` takes what it adds up. */
const numberOrZero = (value: unknown): number => (typeof value === 'number' ? value : 0)

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError('A computed update takes for a list what is none')
  return value
}

/** `$filter` and `$map`, whose operands differ only in the name of the expression that is computed for each member. */
const eachMemberOperator =
  (part: 'cond' | 'in', result: (members: unknown[], computed: unknown[]) => unknown[]): Operator =>
  (operand, scope) => {
    if (!isObject(operand)) throw new TypeError('A computed update goes through a list without saying how')
    const { input, as = 'this', ...rest } = operand
    if (Object.keys(rest).join() !== part)
      throw new TypeError(`A computed update goes through a list by input, as and ${part}`)
    const members = evaluate(input, scope)
    if (isNullish(members)) return null
    const within = (member: unknown): Scope => ({ ...scope, variables: { ...scope.variables, [String(as)]: member } })
    return result(
      list(members),
      list(members).map(member => evaluate(rest[part], within(member))),
    )
  }

const OPERATORS: Readonly<Record<string, Operator>> = {
  $literal: operand => operand,
  $add: arithmetic(undefined, (...numbers) => numbers.reduce((a, b) => a + b, 0)),
  $subtract: arithmetic(2, (a = 0, b = 0) => a - b),
  $multiply: arithmetic(undefined, (...numbers) => numbers.reduce((a, b) => a * b, 1)),
  $floor: arithmetic(1, Math.floor),
  $eq: comparison(order => order === 0),
  $ne: comparison(order => order !== 0),
  $gt: comparison(order => order > 0),
  $gte: comparison(order => order >= 0),
  $min: extreme(order => order < 0),
  $max: extreme(order => order > 0),
  $not: (operand, scope) => !truthy(evaluateExactly(1, operand, scope)[0]),
  $ifNull: (operand, scope) => {
    const values = evaluateAll(operand, scope)
    const found = values.find(value => !isNullish(value))
    return found === undefined ? values.at(-1) : found
  },
  $cond(operand, scope) {
    if (!Array.isArray(operand) || operand.length !== 3) throw new TypeError('A $cond is a list of three parts')
    return evaluate(truthy(evaluate(operand[0], scope)) ? operand[1] : operand[2], scope)
  },
  $sum: (operand, scope) => evaluateSpread(operand, scope).reduce<number>((sum, each) => sum + numberOrZero(each), 0),
  $arrayElemAt(operand, scope) {
    const [members, place] = evaluateExactly(2, operand, scope)
    if (isNullish(members) || isNullish(place)) return null
    if (!Number.isInteger(place)) throw new TypeError('A computed update takes a member of a list by no whole number')
    return list(members).at(Number(place))
  },
  $size: (operand, scope) => {
    const value = evaluate(Array.isArray(operand) && operand.length === 1 ? operand[0] : operand, scope)
    return list(value).length
  },
  $in(operand, scope) {
    const [member, members] = list(operand).map(each => evaluate(each, scope))
    return list(members).some(each => compareAcrossTypes(each, member) === 0)
  },
  $concatArrays(operand, scope) {
    const lists = list(operand).map(each => evaluate(each, scope))
    return lists.some(isNullish) ? null : lists.flatMap(list)
  },
  $slice(operand, scope) {
    const [members, ...counts] = list(operand).map(each => evaluate(each, scope))
    const [count] = counts
    if (counts.length !== 1 || !Number.isInteger(count)) throw new TypeError('A $slice takes a list and a count')
    if (isNullish(members)) return null
    return Number(count) < 0 ? list(members).slice(Number(count)) : list(members).slice(0, Number(count))
  },
  $filter: eachMemberOperator('cond', (members, computed) => members.filter((_, i) => truthy(computed[i]))),
  $map: eachMemberOperator('in', (_, computed) => computed.map(value => value ?? null)),
}
