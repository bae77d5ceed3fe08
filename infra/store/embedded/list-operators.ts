// The operators of computed updates that work on lists. See expression.ts.
import type { Operator, Scope } from './operator.ts'
import { compareAcrossTypes, isNullish, isObject, truthy } from './values.ts'

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError('A computed update takes for a list what is none')
  return value
}

/** `$filter` and `$map`, whose operands differ only in the name of the expression that is computed for each member. */
const eachMemberOperator =
  (part: 'cond' | 'in', result: (members: unknown[], computed: unknown[]) => unknown[]): Operator =>
  (operand, scope, evaluate) => {
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

export const LIST_OPERATORS: Readonly<Record<string, Operator>> = {
  $size: (operand, scope, evaluate) => {
    const value = evaluate(Array.isArray(operand) && operand.length === 1 ? operand[0] : operand, scope)
    return list(value).length
  },
  $in(operand, scope, evaluate) {
    const [member, members] = list(operand).map(each => evaluate(each, scope))
    return list(members).some(each => compareAcrossTypes(each, member) === 0)
  },
  $concatArrays(operand, scope, evaluate) {
    const lists = list(operand).map(each => evaluate(each, scope))
    return lists.some(isNullish) ? null : lists.flatMap(list)
  },
  $slice(operand, scope, evaluate) {
    const [members, ...counts] = list(operand).map(each => evaluate(each, scope))
    const [count] = counts
    if (counts.length !== 1 || !Number.isInteger(count)) throw new TypeError('A $slice takes a list and a count')
    if (isNullish(members)) return null
    return Number(count) < 0 ? list(members).slice(Number(count)) : list(members).slice(0, Number(count))
  },
  $filter: eachMemberOperator('cond', (members, computed) => members.filter((_, i) => truthy(computed[i]))),
  $map: eachMemberOperator('in', (_, computed) => computed.map(value => value ?? null)),
}
