// Schemas of single values in settings, provider configs, the bootstrap file and the admin API. Their messages say what is expected.
// They check the form only, not whether a number or a host exists.
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { CHANNELS } from '../../../machines/channels.ts'
import { isCountry } from './countries.ts'

export const channel = z
  .enum(CHANNELS, `must be one of ${CHANNELS.join(', ')}`)
  .meta({ id: 'Channel', description: 'How a code can travel.' })

export const countryOrAll = z
  .string()
  .refine(code => code === '*' || isCountry(code), 'must be an ISO 3166-1 alpha-2 code or "*"')
export const country = z.string().refine(isCountry, 'must be an ISO 3166-1 alpha-2 country code, such as "GB"')

export const phoneNumber = z
  .string()
  .regex(/^\+[1-9]\d{6,14}$/, 'must be an E.164 phone number, such as "+447911123456"')

/** Makes the tag canonical: `pt-br` becomes `pt-BR`. */
export const locale = z
  .string()
  .refine(tag => canonicalLocale(tag) !== undefined, {
    message: 'must be a BCP 47 language tag, such as "en" or "pt-BR"',
    abort: true,
  })
  .overwrite(tag => canonicalLocale(tag) ?? tag)

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)+${LABEL}$`)

export const domain = z.string().regex(DOMAIN, 'must be a domain name in lower case, such as "example.com"')

export const androidHash = z
  .string()
  .regex(/^[A-Za-z0-9+/]{11}$/, "must be the 11 base64 characters of the app's SMS Retriever hash")

/** Exactly as browsers send it, because it is compared with the Origin header as text. */
export const origin = z
  .string()
  .refine(text => !text.includes('*'), {
    message: 'has no wildcards: list every origin by itself, such as "https://shop.example"',
    abort: true,
  })
  .refine(isOrigin, 'must be an origin as browsers send it, "https://host[:port]" (http for localhost only)')

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

/** A name that people read. An empty one is too short already. */
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

/** Padded, and as encoders write it: public libraries refuse anything else. */
export const isBase64 = (encoded: string): boolean => Buffer.from(encoded, 'base64').toString('base64') === encoded

export const hasNoRepeats = <T>(list: readonly T[]): boolean => new Set(list).size === list.length

function canonicalLocale(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch {
    return undefined
  }
}

/** `new URL` accepts more characters than names of hosts have. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)$/

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.origin !== text || !HOST.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocalhost(url.hostname))
}

const isLocalhost = (host: string): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(host) || host.endsWith('.localhost')

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  // `new URL` repairs `https:host` and trims spaces, but the stored text must be the address that is called.
  return /^https?:\/\/[^\s#]+$/i.test(text) && /^https?:$/.test(protocol) && username === '' && password === ''
}
