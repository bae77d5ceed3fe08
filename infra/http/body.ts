// In: a request. Out: the JSON in its body, undefined when it has none, or a refusal: 413 too large, 415 no JSON, 400 broken.
// Bytes are counted as they come, before anything is parsed. A member named `__proto__` stays a plain member of its object, as
// JSON.parse leaves it; nothing here merges or assigns it.
import { Buffer } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { parseJson } from '../json.ts'
import { httpException } from './problem.ts'

export async function readJson({ req }: { req: IncomingMessage }, maxBytes: number): Promise<unknown> {
  if (!announcesBody(req)) return undefined
  const bytes = await readAll(req, maxBytes)
  if (bytes.length === 0) return undefined
  refuseUnlessJson(req)
  const json = parseJson(textOf(bytes))
  if (!json.ok) throw httpException(400, `The body is ${json.message}.`)
  if (isDeeperThan(MAX_NESTING, json.value)) throw httpException(400, 'The body is nested too deeply.')
  return json.value
}

/** The body as it came, whatever it is: what others sign are bytes. */
export const readBytes = async ({ req }: { req: IncomingMessage }, maxBytes: number): Promise<Buffer> =>
  announcesBody(req) ? readAll(req, maxBytes) : Buffer.alloc(0)

/** HTTP/1.1 announces a body by one of the two; what announces none has none. */
const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Listens instead of iterating: leaving an iteration early would cut the connection before the refusal is out. */
const readAll = (req: IncomingMessage, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const refuseTooLarge = (): void => {
      // What still comes is read and dropped, so that a client which writes first and reads later hears the answer.
      chunks = []
      reject(httpException(413, `A body may have ${maxBytes} bytes.`))
    }
    const refuseIncomplete = (): void => reject(httpException(400, 'The body ended before it was complete.'))
    if (Number(req.headers['content-length']) > maxBytes) refuseTooLarge()
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) refuseTooLarge()
      else chunks.push(chunk)
    })
    req.on('end', () => {
      // Every request ends in a close; an error nobody hears costs as much as one that is told.
      req.off('close', refuseIncomplete)
      resolve(Buffer.concat(chunks))
    })
    req.on('error', refuseIncomplete)
    req.on('close', refuseIncomplete)
  })

const JSON_TYPE = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i

function refuseUnlessJson({ headers }: IncomingMessage): void {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw httpException(415, 'The body must be application/json.')
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw httpException(415, 'The body must not be compressed.')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw httpException(400, 'The body is not UTF-8.')
  }
}

/** No request of ours is nearly as deep. Code that walks a value may then recurse without asking. */
const MAX_NESTING = 32

function isDeeperThan(levels: number, value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
