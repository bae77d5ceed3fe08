// Parses a mail as far as tests need it: headers, the parts of a multipart and their encodings. Checks a DKIM signature by RFC 6376.
import { Buffer } from 'node:buffer'
import { createHash, type KeyLike, verify } from 'node:crypto'

export interface ParsedMail {
  /** Unfolded and decoded, by name in lower case. */
  headers: Record<string, string>
  /** By content type: `text/plain`, `text/html`. */
  bodies: Record<string, string>
}

export function parseMail(raw: Buffer): ParsedMail {
  const { fields, body } = split(raw.toString('latin1'))
  const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), decodeWords(unfold(value))]))
  const boundary = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '')?.[1]
  const bodies = boundary === undefined ? [raw.toString('latin1')] : body.split(`--${boundary}`).slice(1, -1)
  return { headers, bodies: Object.fromEntries(bodies.map(partOf)) }
}

function partOf(text: string): [type: string, content: string] {
  const { fields, body } = split(text.replace(/^\r\n/, ''))
  const field = (name: string): string => fields.find(([given]) => given.toLowerCase() === name)?.[1]?.trim() ?? ''
  const type = field('content-type').split(';')[0] ?? ''
  const encoding = field('content-transfer-encoding').toLowerCase()
  const bytes = encoding === 'base64' ? Buffer.from(body, 'base64') : quotedPrintable(body, encoding)
  return [type, bytes.toString('utf8').replaceAll('\r\n', '\n').trimEnd()]
}

const quotedPrintable = (text: string, encoding: string): Buffer =>
  Buffer.from(encoding === 'quoted-printable' ? decodeHex(text.replaceAll('=\r\n', ''), '=') : text, 'latin1')

const decodeHex = (text: string, mark: string): string =>
  text.replaceAll(new RegExp(`${mark}([0-9A-F]{2})`, 'gi'), (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )

type Field = [name: string, value: string]

function split(text: string): { fields: Field[]; body: string } {
  const end = text.indexOf('\r\n\r\n')
  const lines = text.slice(0, end).split(/\r\n(?![ \t])/)
  const fields = lines.map((line): Field => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1)]
  })
  return { fields, body: text.slice(end + 4) }
}

const unfold = (value: string): string => value.replaceAll('\r\n', '').trim()

/** Decodes encoded words, by RFC 2047. */
const decodeWords = (text: string): string =>
  text
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/(?:=\?utf-8\?[bq]\?[^?]*\?=)+/gi, run =>
      Buffer.concat(
        [...run.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)].map(([, kind = '', encoded = '']) =>
          kind.toLowerCase() === 'b'
            ? Buffer.from(encoded, 'base64')
            : Buffer.from(decodeHex(encoded.replaceAll('_', ' '), '='), 'latin1'),
        ),
      ).toString(),
    )

interface Dkim {
  domain: string | undefined
  selector: string | undefined
  signed: string[]
  ok: boolean
}

/** Supports relaxed/relaxed and rsa-sha256 only. Null when the mail has no signature. */
export function checkDkim(raw: Buffer, key: KeyLike): Dkim | null {
  const { fields, body } = split(raw.toString('latin1'))
  const signature = fields.find(([name]) => name.toLowerCase() === 'dkim-signature')
  if (!signature) return null
  const tags = Object.fromEntries(
    signature[1].split(';').map(tag => {
      const equals = tag.indexOf('=')
      return [tag.slice(0, equals).trim(), tag.slice(equals + 1).replaceAll(/\s/g, '')]
    }),
  )
  const signed = (tags.h ?? '').split(':')
  const canonical = [
    ...signed.map(name => relaxField(fields.findLast(([given]) => given.toLowerCase() === name) ?? [name, ''])),
    // The signature itself, without its value and without a line break after it.
    relaxField(['dkim-signature', signature[1].replace(/(\bb=)[^;]*$/, '$1')]),
  ].join('\r\n')
  const bodyHash = createHash('sha256').update(relaxBody(body), 'latin1').digest('base64')
  const isValid = verify('sha256', Buffer.from(canonical, 'latin1'), key, Buffer.from(tags.b ?? '', 'base64'))
  const isSupported = tags.v === '1' && tags.a === 'rsa-sha256' && tags.c === 'relaxed/relaxed'
  return { domain: tags.d, selector: tags.s, signed, ok: isSupported && isValid && bodyHash === tags.bh }
}

const relaxField = ([name, value]: Field): string =>
  `${name.toLowerCase().trim()}:${unfold(value)
    .replaceAll(/[ \t]+/g, ' ')
    .trim()}`

const relaxBody = (body: string): string => {
  const lines = body.split('\r\n').map(line => line.replaceAll(/[ \t]+/g, ' ').replace(/ $/, ''))
  const text = lines.join('\r\n').replace(/(\r\n)*$/, '')
  return text === '' ? '' : `${text}\r\n`
}
