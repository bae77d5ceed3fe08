// Calls and answers on the wire: many in one message, a frame. Each call has a number that its requester chose, and its answer has the
// same. A call is serialised when it is made; a frame joins the texts.
import { Buffer } from 'node:buffer'
import type { Trace } from '../../trace.ts'

export interface Call {
  n: number
  id: string
  body: unknown
  budgetMs: number
  /** Each call of a frame has its own. */
  trace?: Trace | undefined
}

export type Answer = { n: number; value?: unknown } | { n: number; failed: string }

export const callJson = ({ n, id, body, budgetMs, trace }: Call): string =>
  JSON.stringify({ n, id, budgetMs, trace, body })

/** An answer that cannot be serialised is sent as a failure of the server. */
export function answerJson(answer: Answer): string {
  try {
    return JSON.stringify(answer)
  } catch (error) {
    return JSON.stringify({ n: answer.n, failed: `the answer is not JSON: ${error}` })
  }
}

export const encodeFrame = (entries: readonly string[]): Buffer => Buffer.from(`[${entries.join()}]`)

export const callsIn = (content: Buffer): Call[] => parseFrame(content, isCall)
export const answersIn = (content: Buffer): Answer[] => parseFrame(content, isNumbered) as Answer[]

/** The error does not quote the content, as JSON.parse does, because it is logged. */
function parseFrame<T>(content: Buffer, isOne: (part: unknown) => part is T): T[] {
  const entries = parseOrUndefined(content)
  if (!Array.isArray(entries) || !entries.every(isOne)) throw new Error('not a frame')
  return entries
}

function parseOrUndefined(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString())
  } catch {
    return undefined
  }
}

const isNumbered = (part: unknown): part is { n: number } =>
  typeof part === 'object' && part !== null && 'n' in part && typeof part.n === 'number'

const isCall = (part: unknown): part is Call =>
  isNumbered(part) &&
  'id' in part &&
  typeof part.id === 'string' &&
  'budgetMs' in part &&
  typeof part.budgetMs === 'number'
