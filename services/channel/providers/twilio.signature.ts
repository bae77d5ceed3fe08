// Checks Twilio's signature of a callback: base64 HMAC-SHA1 with the auth token, over the address and the form fields sorted by name.
// https://www.twilio.com/docs/usage/security#validating-requests (JSON bodies with `bodySHA256` are not used for messages.)
import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'

export interface SignedByTwilio {
  /** The address that Twilio was given. */
  url: URL
  fields: URLSearchParams
  auth_token: string
}

/** A byte order mark is kept, so that a body with one fails the check. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A status callback has a few hundred bytes. Sorting happens before the signature is checked, so its cost must be limited. */
const MAX_FORM_BYTES = 16_384

/** Twilio signs the decoded fields, not the bytes. Null when the body is too large. */
export const fieldsOf = (body: Uint8Array): URLSearchParams | null =>
  body.length > MAX_FORM_BYTES ? null : new URLSearchParams(utf8.decode(body))

export function isSignedByTwilio(signature: string | undefined, { url, fields, auth_token }: SignedByTwilio): boolean {
  if (signature === undefined) return false
  const signedFields = sortedFields(fields)
  // Every variant is compared, so that the time does not tell which one matched.
  return urlVariants(url)
    .map(address =>
      isSameSecret(
        signature,
        createHmac('sha1', auth_token)
          .update(address + signedFields)
          .digest('base64'),
      ),
    )
    .includes(true)
}

/** Name and value of each field, sorted by name; a pair that occurs twice counts once, as in Twilio's libraries. */
function sortedFields(fields: URLSearchParams): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value))
  const pairs = [...values.keys()]
    .sort()
    .flatMap(name => [...(values.get(name) ?? [])].sort().map(value => name + value))
  return pairs.join('')
}

/** Some of Twilio's servers sign the address with its port, some without. Twilio's libraries try both, and so do we. */
function urlVariants(url: URL): string[] {
  const { protocol, host, hostname, port, pathname, search } = url
  const standard = protocol === 'https:' ? '443' : '80'
  const hosts = port === '' ? [host, `${hostname}:${standard}`] : [host, hostname]
  return hosts.map(variant => `${protocol}//${variant}${pathname}${search}`)
}
