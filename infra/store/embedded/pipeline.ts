// Applies a computed update ("add one unless that passes the limit"). In: the document as read, and stages. Out: the same object, changed.
import type { Doc, Pipeline } from '../docs.ts'
import { evaluate } from './expression.ts'
import { refuseConflicts } from './update-operators.ts'
import { copy, isObject, member } from './values.ts'

type Fields = Record<string, unknown>

export function applyPipeline<T extends Doc>(doc: T, pipeline: Pipeline): void {
  const fields = doc as unknown as Fields
  const { _id } = doc
  for (const stage of pipeline) {
    const [operator, ...others] = Object.keys(stage)
    if (others.length > 0) throw new TypeError('A stage has one operator')
    if ('$set' in stage) setFields(fields, flatten(stage.$set))
    else if ('$unset' in stage) for (const path of stage.$unset) unset(fields, path.split('.'))
    else throw new TypeError(`A computed update knows no ${operator}`)
  }
  if (doc._id !== _id) throw new TypeError('An _id does not change')
}

/** Computes every expression before it writes the first value. An expression that is missing removes its field. */
function setFields(doc: Fields, expressions: [path: string, expression: unknown][]): void {
  refuseConflicts(expressions.map(([path]) => path))
  const scope = { root: doc, variables: {} }
  const values = expressions
    .map(([path, expression]) => ({ names: path.split('.'), expression }))
    .filter(({ names }) => isReachable(doc, names))
    .map(({ names, expression }) => ({ names, value: copy(evaluate(expression, scope)) }))
  for (const { names, value } of values) setPath(doc, names, value)
}

/** False where an empty list is on the path: MongoDB does not compute an expression for such a path. */
function isReachable(value: unknown, names: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some(each => isReachable(each, names))
  const [name = '', ...rest] = names
  return rest.length === 0 || !isObject(value) || isReachable(member(value, name), rest)
}

/** `{ a: { b: 1 } }` sets `a.b` and leaves the rest of `a`, as in MongoDB. */
function flatten(fields: Fields, prefix = ''): [path: string, expression: unknown][] {
  return Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined) return []
    if (!isObject(value) || Object.keys(value).some(key => key.startsWith('$'))) return [[prefix + name, value]]
    if (Object.keys(value).length === 0)
      throw new TypeError('A computed update sets an empty object: write it as a $literal')
    return flatten(value, `${prefix}${name}.`)
  })
}

/** A list on the path stands for its members; any other value that is not an object is replaced by one. */
function setPath(holder: Fields, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length > 0) holder[name] = setWithin(member(holder, name), rest, value)
  else if (value === undefined) delete holder[name]
  else holder[name] = value
}

function setWithin(value: unknown, names: readonly string[], leaf: unknown): unknown {
  if (Array.isArray(value)) return value.map(each => setWithin(each, names, copy(leaf)))
  const holder = isObject(value) ? value : {}
  setPath(holder, names, leaf)
  return holder
}

function unset(value: unknown, [name = '', ...rest]: readonly string[]): void {
  if (Array.isArray(value)) for (const each of value) unset(each, [name, ...rest])
  else if (isObject(value) && rest.length > 0) unset(member(value, name), rest)
  else if (isObject(value)) delete value[name]
}
