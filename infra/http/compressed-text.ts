// In: a text that is made once and served often. Out: the text as a file with its compressed twins, so that no request compresses it.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { SiteFile } from '../web/built-site.ts'

/** The highest quality takes a second for a megabyte. This one takes a tenth of that and is a little larger. */
const BROTLI_QUALITY = 9

/** Compresses beside the event loop: other requests are answered meanwhile. */
export async function compressText(text: string, type: string): Promise<SiteFile> {
  const plain = Buffer.from(text)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  }
  const [gzipped, brotli] = await Promise.all([
    promisify(gzip)(plain, { level: 9 }),
    promisify(brotliCompress)(plain, { params }),
  ])
  // Weak, because all three encodings have it.
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url')}"`
  return { type, etag, plain, gzip: gzipped, brotli }
}
