// The bootstrap file as it is written: the shape of each member, and unknown ones refused.
// What concerns several members at once is in bootstrap.rules.ts.
import { z } from 'zod'
import { canonicalCidr } from '../address-lists/cidr.ts'
import { isCountry } from '../tenancy/countries.ts'
import { check } from '../tenancy/problems.ts'
import { PROVIDER_NAME, PROVIDER_TYPES } from '../tenancy/providers.ts'
import { type SettingsInput, settingsSchema } from '../tenancy/settings.ts'
import { channel, text, webAddress } from '../tenancy/value-schemas.ts'

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9]{1,60}$`), `must be "${prefix}_" followed by letters and digits`)

const name = text(100)

/** Settings are checked now and resolved when they are read: what is kept is what was written. */
const settings = z.custom<SettingsInput>().superRefine((written, context) => {
  const checked = check(settingsSchema, written)
  if (checked.ok) return
  for (const { path, message } of checked.problems)
    context.addIssue({ code: 'custom', path: pathSegments(path), message })
})

const pathSegments = (path: string): string[] => (path === '' ? [] : path.split('.'))

const key = z.strictObject({
  id: id('key'),
  kind: z.enum(['server', 'publishable']).optional(),
  mode: z.enum(['live', 'test']).optional(),
  key: z
    .string()
    .regex(/^[\x21-\x7e]{8,200}$/, 'must be 8 to 200 visible ASCII characters')
    .optional(),
})

const webhook = z.strictObject({ url: webAddress, secret: text(500).min(8).optional() })

const provider = z.strictObject({
  name: z.string().regex(PROVIDER_NAME, 'must be 1 to 63 of a–z, 0–9, "-" and "_", the first a letter or digit'),
  channel: channel.optional(),
  type: z.enum(PROVIDER_TYPES),
  config: z.unknown().optional(),
})

const app = z.strictObject({
  id: id('app'),
  name: name.optional(),
  settings: settings.optional(),
  keys: z.array(key).optional(),
  webhook: webhook.optional(),
  providers: z.array(provider).max(100).optional(),
})

const company = z.strictObject({
  id: id('cmp'),
  name: name.optional(),
  balance: z.int().min(0).optional(),
  apps: z.array(app).optional(),
})

export const price = z.strictObject({
  channel,
  country: z.string().refine(code => code === '*' || isCountry(code), 'must be an ISO 3166-1 alpha-2 code or "*"'),
  micros: z.int().min(0),
})

const ipRange = z.strictObject({
  class: z.enum(['abusive', 'vpn', 'proxy', 'tor', 'datacenter']),
  cidr: z.string().refine(range => canonicalCidr(range) !== null, 'must be an address range, such as "45.95.147.0/24"'),
})

export const bootstrapSchema = z.strictObject({
  companies: z.array(company).optional(),
  prices: z.array(price).optional(),
  ip_lists: z.array(ipRange).optional(),
})

export type BootstrapFile = z.output<typeof bootstrapSchema>
