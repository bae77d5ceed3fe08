// Whether Twilio sent a callback: base64 HMAC-SHA1, keyed with the auth token, of the address and the form's fields by name.
// https://www.twilio.com/docs/usage/security#validating-requests (JSON bodies with `bodySHA256` are not used for messages.)
import { createHmac } from 'node:crypto'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'

export interface SignedByTwilio {
  /** The address Twilio was given. */
  url: URL
  fields: URLSearchParams
  auth_token: string
}

/** A byte order mark is kept: it was not signed. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A status is a few hundred bytes. Fields are sorted before anything is proven, so nobody may send many. */
const MAX_FORM_BYTES = 16_384

/** What was signed are the fields, not the bytes: bytes that are no text become fields that nobody signed. None when there are too many. */
export const fieldsOf = (body: Uint8Array): URLSearchParams | null =>
  body.length > MAX_FORM_BYTES ? null : new URLSearchParams(utf8.decode(body))

export function isSignedByTwilio(signature: string | undefined, { url, fields, auth_token }: SignedByTwilio): boolean {
  if (signature === undefined) return false
  const signedFields = sortedFields(fields)
  // Compared with every one, so that the time tells nothing.
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

/** Name and value of each field, by name; the same twice counts once. Linear in the fields: nothing is proven yet. */
function sortedFields(fields: URLSearchParams): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of fields) values.set(name, (values.get(name) ?? new Set()).add(value))
  const named = [...values.keys()].sort().flatMap(name => [...(values.get(name) ?? [])].sort().map(one => name + one))
  return named.join('')
}

/** Twilio's servers do not agree on whether the port belongs to what is signed, so its own libraries try both. */
function urlVariants(url: URL): string[] {
  const { protocol, host, hostname, port, pathname, search } = url
  const standard = protocol === 'https:' ? '443' : '80'
  const hosts = port === '' ? [host, `${hostname}:${standard}`] : [host, hostname]
  return hosts.map(one => `${protocol}//${one}${pathname}${search}`)
}
