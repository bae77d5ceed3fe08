// Files of NDJSON: a JSON object on each line. In: a stream of lines, or the text of a request. Out: an answer that needs the memory of a
// page, however long it is; or the checked objects with the numbers of their lines, or a refusal that names the lines that are wrong.
import { Readable } from 'node:stream'
import type { z } from 'zod'
import { eventLoop } from '../../infra/event-loop.ts'
import { parseJson } from '../../infra/json.ts'
import { check, type InputProblem } from '../domain/tenancy/problems.ts'
import type { Answer } from './answers.ts'
import { validationProblem } from './request-input.ts'

export const LINES_TYPE = 'application/x-ndjson'

/** An answer that is streamed. `schema` documents the text that the client reads. An error while it is read ends the connection before the
 *  end of the file: the client knows that the file is not complete. */
export const linesAnswer = (
  schema: z.ZodString,
  description: string,
  example: string,
): Answer<z.ZodType<Readable>> => ({
  status: 200,
  mediaType: LINES_TYPE,
  // What the handler answers is not what the client reads.
  schema: schema as z.ZodType as z.ZodType<Readable>,
  description,
  examples: { example },
})

/** A JSON answer that is streamed. `schema` documents what the client reads. */
export const streamedAnswer = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: z.output<Schema>,
): Answer<z.ZodType<Readable>> => ({
  status: 200,
  schema: schema as z.ZodType as z.ZodType<Readable>,
  description,
  examples: { example },
})

export const streamOf = (lines: AsyncIterable<string>): Readable => Readable.from(lines, { objectMode: false })

export interface Line<T> {
  /** From 1. */
  line: number
  value: T
}

const LINES_IN_A_TURN = 200
/** More would only lengthen the answer. */
const MAX_PROBLEMS = 20

/** Empty lines are skipped. */
export async function parseLines<S extends z.ZodType>(text: string, schema: S): Promise<Line<z.output<S>>[]> {
  const parsed: Line<z.output<S>>[] = []
  const problems: InputProblem[] = []
  for (const [at, json] of text.split('\n').entries()) {
    if (at % LINES_IN_A_TURN === LINES_IN_A_TURN - 1) await eventLoop.turn()
    if (json.trim() === '') continue
    const line = at + 1
    const read = parseJson(json)
    const checked = read.ok ? check(schema, read.value) : { ok: false as const, problems: [notJson(read.message)] }
    if (checked.ok) parsed.push({ line, value: checked.value })
    else
      problems.push(
        ...checked.problems.map(({ path, message }) => ({ path: `line ${line}`, message: join(path, message) })),
      )
    if (problems.length >= MAX_PROBLEMS) break
  }
  if (problems.length > 0) throw validationProblem(problems.slice(0, MAX_PROBLEMS))
  return parsed
}

const notJson = (message: string): InputProblem => ({
  path: '',
  message: `is ${message.replace(/ at line 1, /, ' at ')}`,
})
const join = (path: string, message: string): string => (path === '' ? message : `${path} ${message}`)
