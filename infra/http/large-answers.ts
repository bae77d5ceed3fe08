// Compresses the answers of the operations that it stands before, where they are large and the client can read it.
// Small answers are sent as they are: compressed they would save no packet.
import { Buffer } from 'node:buffer'
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import type { Context, Middleware } from 'koa'

const LARGE_BYTES = 4_096

/** These answers are made for one client. The higher qualities take many times as long and save little. */
const BROTLI = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
}
const ENCODERS = {
  br: { whole: (text: string) => promisify(brotliCompress)(text, BROTLI), stream: () => createBrotliCompress(BROTLI) },
  gzip: { whole: (text: string) => promisify(gzip)(text), stream: () => createGzip() },
}

export type Encoding = keyof typeof ENCODERS | 'identity'

/** Browsers name gzip first and mean nothing by it: Brotli is smaller. */
export const chooseEncoding = (ctx: Context): Encoding => {
  ctx.vary('Accept-Encoding')
  return (ctx.acceptsEncodings('br') || ctx.acceptsEncodings('gzip') || 'identity') as Encoding
}

export const compressLargeAnswers: Middleware = async (ctx, next) => {
  await next()
  const { body } = ctx
  if (typeof body !== 'object' || body === null || body instanceof Buffer) return
  const encoding = chooseEncoding(ctx)
  if (body instanceof Readable) {
    if (encoding === 'identity') return
    ctx.set('Content-Encoding', encoding)
    // An error ends the answer early, which the client notices. A client that goes away ends the reading.
    ctx.body = pipeline(body, ENCODERS[encoding].stream(), () => {})
    return
  }
  const text = JSON.stringify(body)
  const { type } = ctx.response
  ctx.body = text
  if (encoding !== 'identity' && Buffer.byteLength(text) >= LARGE_BYTES) {
    ctx.body = await ENCODERS[encoding].whole(text)
    ctx.set('Content-Encoding', encoding)
  }
  ctx.type = type || 'json'
}
