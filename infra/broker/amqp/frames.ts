// Calls and answers on the wire: many in one message, each call with a number its requester chose. Calls are made JSON one by
// one, when they are asked, and only joined here.
import { Buffer } from 'node:buffer'

export interface Call {
  n: number
  id: string
  body: unknown
  budgetMs: number
}

export type Answer = { n: number; value?: unknown } | { n: number; failed: string }

export const callJson = ({ n, id, body, budgetMs }: Call): string => JSON.stringify({ n, id, budgetMs, body })

/** An answer that JSON cannot hold is a failure of the server. */
export function answerJson(answer: Answer): string {
  try {
    return JSON.stringify(answer)
  } catch (error) {
    return JSON.stringify({ n: answer.n, failed: `the answer is not JSON: ${error}` })
  }
}

export const frame = (parts: readonly string[]): Buffer => Buffer.from(`[${parts.join()}]`)

export const callsIn = (content: Buffer): Call[] => parsed(content, isCall)
export const answersIn = (content: Buffer): Answer[] => parsed(content, isNumbered) as Answer[]

/** Its error never quotes the content, as the parser's would: it may be logged. */
function parsed<T>(content: Buffer, isOne: (part: unknown) => part is T): T[] {
  const parts = json(content)
  if (!Array.isArray(parts) || !parts.every(isOne)) throw new Error('not a frame')
  return parts
}

function json(content: Buffer): unknown {
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
