// Applies a computed update ("add one unless that passes the limit"). In: the document as read, changed in place, and stages.
// mingo computes the expressions; the stages are ours, because in mingo a stage sees its own writes to nested fields.
import { Aggregator, Context } from 'mingo'
import { evalExpr } from 'mingo/core'
import type { Iterator } from 'mingo/lazy'
import type { Options } from 'mingo/types'
import { compare } from 'mingo/util'
import type { Doc, Pipeline } from './docs.ts'
import { copy, isObject, member } from './embedded.values.ts'

type Fields = Record<string, unknown>

export function applyPipeline<T extends Doc>(doc: T, pipeline: Pipeline): void {
  const fields = doc as unknown as Fields
  const { _id } = doc
  for (const stage of pipeline) {
    const [operator, ...others] = Object.keys(stage)
    if (others.length > 0) throw new TypeError('A stage has one operator')
    if (operator === '$set' && '$set' in stage) setFields(fields, flattened(stage.$set))
    else if (operator === '$unset' && '$unset' in stage)
      for (const path of stage.$unset) write(fields, path.split('.'), undefined)
    else throw new TypeError(`A computed update knows no ${operator}`)
  }
  if (doc._id !== _id) throw new TypeError('An _id does not change')
}

/** Every expression is computed before the first is written. One that comes to nothing takes its field away. */
function setFields(doc: Fields, expressions: Fields): void {
  const values = compute(doc, Object.values(expressions)).map(copy)
  for (const [i, path] of Object.keys(expressions).entries()) write(doc, path.split('.'), values[i])
}

/** `{ a: { b: 1 } }` sets `a.b` and leaves the rest of `a`, as in MongoDB. */
function flattened(fields: Fields, prefix = ''): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const isPlain =
        isObject(value) && Object.keys(value).length > 0 && !Object.keys(value).some(key => key.startsWith('$'))
      return isPlain ? Object.entries(flattened(value, `${prefix}${name}.`)) : [[prefix + name, value]]
    }),
  )
}

/** A list on the way stands for its members; anything else that is no object gives way to one. */
function write(holder: Fields, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    if (value === undefined) delete holder[name]
    else holder[name] = value
    return
  }
  const next = member(holder, name)
  if (Array.isArray(next)) {
    for (const each of next) if (isObject(each)) write(each, rest, value)
  } else if (isObject(next)) write(next, rest, value)
  else if (value !== undefined) {
    holder[name] = {}
    write(holder[name] as Fields, rest, value)
  }
}

interface Job {
  doc: Fields
  expressions: unknown[]
}

// A stage of our own lets mingo prepare its table of operators once, which otherwise costs 100 µs on every call.
const $evaluate = (jobs: Iterator, _: unknown, options: Options): Iterator =>
  jobs.map(({ doc, expressions }: Job) => ({ values: expressions.map(each => evalExpr(doc, each, options)) }))

/** The greatest by `better`, passing over null and missing, which mingo takes for the greatest of all. */
const best =
  (better: (order: number) => boolean) =>
  (doc: unknown, operand: unknown, options: Options): unknown =>
    [evalExpr(doc, operand, options)]
      .flat()
      .reduce((a, b) => (b === null || b === undefined || (a !== null && !better(compare(b, a))) ? a : b), null)

const evaluation = new Aggregator([{ $evaluate: {} }], {
  context: Context.init({
    pipeline: { $evaluate },
    expression: { $max: best(order => order > 0), $min: best(order => order < 0) },
  }),
})

const compute = (doc: Fields, expressions: unknown[]): unknown[] =>
  evaluation.run<{ values: unknown[] }>([{ doc, expressions } satisfies Job])[0]?.values ?? []
