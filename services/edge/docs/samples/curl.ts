// A request as a command for a shell.
import type { SampleRequest } from './request.ts'

const MAX_INLINE_LENGTH = 60

export function writeCurl({ method, path, token, headers = {}, body }: SampleRequest, base: string): string {
  const words = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} '${base}${path}'`,
    ...(token === null ? [] : [`-H "Authorization: Bearer $${token}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quote(jsonText(body))}`]),
  ]
  return words.join(' \\\n  ')
}

function jsonText(body: unknown): string {
  const inline = JSON.stringify(body)
  return inline.length <= MAX_INLINE_LENGTH ? inline : JSON.stringify(body, null, 2).replaceAll('\n', '\n  ')
}

/** Between single quotes a shell changes nothing. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
