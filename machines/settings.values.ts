// Schemas of single values in settings, which the APIs and the bootstrap file use too. Their messages say what is expected. They check the
// form only, not whether a number or a host exists.

import { z } from 'zod'
import { CHANNELS } from './channels.ts'
import { isCountry } from './countries.ts'
import { canonicalLocale } from './locale.ts'
import { SAMPLE_NUMBER } from './sample-number.ts'

export const channel = z
  .enum(CHANNELS, `must be one of ${CHANNELS.join(', ')}`)
  .meta({ id: 'Channel', description: 'How a code can travel.' })

/** The order of channels. An empty one is allowed: every send is then refused with NoEnabledChannelError. */
export const channelOrder = z
  .array(channel)
  .refine(order => new Set(order).size === order.length, 'names a channel twice')

export const countryOrAll = z
  .string()
  .refine(code => code === '*' || isCountry(code), 'must be an ISO 3166-1 alpha-2 code or "*"')
export const country = z.string().refine(isCountry, 'must be an ISO 3166-1 alpha-2 country code, such as "GB"')

/** The form alone: not every such number exists. */
export const E164 = /^\+[1-9]\d{6,14}$/

export const phoneNumber = z.string().regex(E164, `must be an E.164 phone number, such as "${SAMPLE_NUMBER}"`)

/** Makes the tag canonical: `pt-br` becomes `pt-BR`. */
export const locale = z.string().check(payload => {
  const tag = canonicalLocale(payload.value)
  if (tag !== undefined) payload.value = tag
  else
    payload.issues.push({
      code: 'custom',
      input: payload.value,
      message: 'must be a BCP 47 language tag, such as "en" or "pt-BR"',
    })
})

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)+${LABEL}$`)

export const domain = z.string().regex(DOMAIN, 'must be a domain name in lower case, such as "example.com"')

export const androidHash = z
  .string()
  .regex(/^[A-Za-z0-9+/]{11}$/, "must be the 11 base64 characters of the app's SMS Retriever hash")

/** The public key of a vendor's widget. It stands in pages. */
export const siteKey = z
  .string()
  .regex(/^[\w.-]{1,100}$/, 'must be the site key of the widget: letters, digits, hyphens, dots and underscores')

export const widgetSecret = z
  .string()
  .regex(/^[\x21-\x7e]{8,200}$/, 'must be the secret key of the widget: at least 8 characters, without spaces')

/** Plain http is for addresses that the operator allows; whether it does is checked when the address is saved and at every call. */
export const httpsAddress = z
  .string()
  .max(2_048)
  .refine(isHttpAddress, 'must be an https URL without user, password or fragment')

function isHttpAddress(text: string): boolean {
  if (!/^https?:\/\/[^\s#]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

/** Exactly as browsers send it, because it is compared with the Origin header as text. */
export const origin = z
  .string()
  .refine(text => !text.includes('*'), {
    message: 'has no wildcards: list every origin by itself, such as "https://shop.example"',
    abort: true,
  })
  .refine(isOrigin, 'must be an origin as browsers send it, "https://host[:port]" (http for localhost only)')

/** `new URL` accepts more characters than names of hosts have. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)$/

function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.origin !== text || !HOST.test(url.hostname)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocalhost(url.hostname))
}

const isLocalhost = (host: string): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(host) || host.endsWith('.localhost')
