// In: a request. Out: its body, as JSON or as bytes, or a refusal: 413 too large, 415 not JSON, 400 broken or cut off.
// koa-body reads the text within a byte limit. This file adds what koa-body lacks: a 415 for other content types, a 400
// for bytes that are not UTF-8, the line and column of broken JSON, limits on what is in it, and a connection that stays usable
// after a refusal, unless it goes on for long. A body of another type than an object is for the caller's schema to refuse.
import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import { HttpMethodEnum, koaBody } from 'koa-body'
import { excessIn, parseJson } from '../json.ts'
import { dropBody } from './pipelining.ts'
import { brokenJson, httpException, type Problem } from './problem.ts'

/** Returns undefined for a request without a body, with any content type. */
export type ReadJson = (ctx: Context) => Promise<unknown>

const JSON_TYPES = ['application/json', 'application/*+json']

/** Members and items of a usual body, of all of them together. To check them takes far longer than to read them, most
 *  of all where they are wrong. */
export const MAX_VALUES = 2_000
/** Far deeper than any request of ours. Code that walks a body may recurse within it. */
const MAX_NESTING = 33

export function createReadJson(maxBytes: number, maxValues = MAX_VALUES): ReadJson {
  const readBody = koaBody({
    // As a text, because its own JSON parser cannot be told how much a body may hold.
    text: true,
    textTypes: JSON_TYPES,
    textLimit: maxBytes,
    patchNode: false,
    patchKoa: true,
    json: false,
    urlencoded: false,
    multipart: false,
    parsedMethods: Object.values(HttpMethodEnum),
  })

  return async ctx => {
    const { req, request } = ctx
    if (!announcesBody(req)) return undefined
    const unsupported = findUnsupportedType(ctx)
    if (unsupported !== null) {
      if ((await readAll(req, maxBytes)).length === 0) return undefined
      throw httpException(415, unsupported)
    }
    // koa-body reads the announced length as a 32-bit number, and compares the coding's name by case.
    if (Number(req.headers['content-length']) > maxBytes) {
      dropBody(req)
      throw tooLarge(maxBytes)
    }
    delete req.headers['content-encoding']
    const encoding = watchEncoding(req)
    try {
      await readBody(ctx, async () => {})
    } catch (error) {
      throw readingProblem(error, maxBytes)
    } finally {
      encoding.stop()
      // koa-body leaves a refused body unread. It is read and dropped here, so that a client that writes first and reads later
      // gets the answer, on a connection it can use again.
      dropBody(req)
    }
    if (!encoding.isUtf8()) throw notUtf8()
    const text = String(request.body)
    // A chunked body announces itself and can still be empty.
    return text === '' ? undefined : parseWithin(text, maxValues)
  }
}

function parseWithin(text: string, maxValues: number): unknown {
  const excess = excessIn(text, { nesting: MAX_NESTING, values: maxValues })
  if (excess === 'nesting') throw brokenJson('The body is nested too deeply.')
  if (excess === 'values') throw httpException(413, `A body may have ${maxValues} members and items.`)
  const json = parseJson(text)
  if (!json.ok) throw brokenJson(`The body is ${json.message}.`)
  return json.value
}

/** The bytes as they came: a provider signs bytes, and a decoded text can differ from them. */
export const readBytes = async ({ req }: { req: IncomingMessage }, maxBytes: number): Promise<Buffer> =>
  announcesBody(req) ? readAll(req, maxBytes) : Buffer.alloc(0)

/** The fields of an HTML form; none without a body. */
export async function readForm(ctx: Context, maxBytes: number): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(ctx, FORM_TYPE, maxBytes))
}

/** A text of another type than JSON; empty without a body. */
export async function readText(ctx: Context, type: string, maxBytes: number): Promise<string> {
  const bytes = await readBytes(ctx, maxBytes)
  if (bytes.length === 0) return ''
  if (!ctx.is(type)) throw httpException(415, `The body must be ${type}.`)
  if (isCompressed(ctx)) throw httpException(415, NOT_COMPRESSED)
  return decodeUtf8(bytes)
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw notUtf8()
  }
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

/** HTTP/1.1 announces a body by one of these two headers. */
const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function findUnsupportedType(ctx: Context): string | null {
  if (!ctx.is(JSON_TYPES)) return 'The body must be application/json.'
  // koa-body would inflate it: a small body could then cost much time.
  return isCompressed(ctx) ? NOT_COMPRESSED : null
}

const isCompressed = ({ req }: Context): boolean =>
  (req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity'

const NOT_COMPRESSED = 'The body must not be compressed.'

const READ_FAILURES = new Set(['request.aborted', 'request.size.invalid', 'stream.not.readable'])

function readingProblem(error: unknown, maxBytes: number): unknown {
  const { type, code } = error as { type?: string; code?: string }
  if (type === 'entity.too.large') return tooLarge(maxBytes)
  return READ_FAILURES.has(type ?? '') || code === 'ECONNRESET' ? incomplete() : error
}

/** koa-body replaces bytes that are not UTF-8 by U+FFFD, so a second decoder checks the same chunks. */
function watchEncoding(req: IncomingMessage): { isUtf8(): boolean; stop(): void } {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let valid = true
  const check = (chunk?: Buffer): void => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      valid = false
    }
  }
  req.on('data', check)
  return {
    isUtf8() {
      check()
      return valid
    },
    stop: () => void req.off('data', check),
  }
}

/** Listens instead of iterating: leaving an iteration early would cut the connection before the refusal is out. */
const readAll = (req: IncomingMessage, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const refuseTooLarge = (): void => {
      // The rest is read and dropped, so that a client that writes first and reads later gets the answer.
      chunks = []
      dropBody(req)
      reject(tooLarge(maxBytes))
    }
    const refuseIncomplete = (): void => reject(incomplete())
    if (req.destroyed) refuseIncomplete()
    if (Number(req.headers['content-length']) > maxBytes) refuseTooLarge()
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) refuseTooLarge()
      else chunks.push(chunk)
    })
    req.on('end', () => {
      // Every request ends in a close, and making an error costs time even if its promise is settled.
      req.off('close', refuseIncomplete)
      resolve(Buffer.concat(chunks))
    })
    req.on('error', refuseIncomplete)
    req.on('close', refuseIncomplete)
  })

const tooLarge = (maxBytes: number): Problem => httpException(413, `A body may have ${maxBytes} bytes.`)
const notUtf8 = (): Problem => brokenJson('The body is not UTF-8.')
const incomplete = (): Problem => brokenJson('The body ended before it was complete.')
