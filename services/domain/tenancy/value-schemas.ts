// Schemas of single values in provider configs, the bootstrap file and the admin API; those that settings have too are in
// machines/settings.values.ts. Their messages say what is expected. They check the form only, not whether a host exists.

import { z } from 'zod'
import { isBase64 } from '../../../infra/base64.ts'

export { channel, country, countryOrAll, domain } from '../../../machines/settings.values.ts'

/** https or http: ALLOW_PRIVATE_TARGETS decides about plain http and private addresses, when the address is saved and at every call. */
export const webAddress = z
  .string()
  .max(2048)
  .refine(text => isWebAddress(text), 'must be an http(s) URL without user, password or fragment')

/** The address to which the vendor's paths are appended. */
export const baseUrl = webAddress
  .refine(text => !text.includes('?'), { message: 'must have no query', abort: true })
  .overwrite(text => text.replace(/\/+$/, ''))

/** A single line: a name, an identifier, a password. */
export const text = (max = 200) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must hold no control characters, and no half characters')

/** A name or a note that people read. An empty one is too short already. */
export const shownName = (max?: number) =>
  text(max).refine(name => name === '' || name.trim() !== '', 'must not be blank')

const SECRET_PREFIX = 'whsec_'

/** A signing secret of the operator's own. Public libraries take the base64 after `whsec_` for the key; of any other secret they take
 *  each character for a byte, which is what it is in ASCII only. */
export const webhookSecret = text(500)
  .min(8)
  .regex(/^[\x20-\x7e]*$/, {
    message: 'must be ASCII, because public libraries cannot use another secret',
    abort: true,
  })
  .refine(
    secret => !secret.startsWith(SECRET_PREFIX) || isBase64(secret.slice(SECRET_PREFIX.length)),
    `must be base64, padded, after "${SECRET_PREFIX}"`,
  )

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  // `new URL` repairs `https:host` and trims spaces, but the stored text must be the address that is called.
  return /^https?:\/\/[^\s#]+$/i.test(text) && /^https?:$/.test(protocol) && username === '' && password === ''
}
