// The bootstrap file as an operator writes it: the shape of each member. Unknown members are refused.
// Rules between several members are in file-rules.ts.
import { z } from 'zod'
import { canonicalCidr } from '../address-lists/cidr.ts'
import { ADDRESS_CLASSES } from '../address-lists/documents.ts'
import { hookSecrets } from '../tenancy/hook-secrets.ts'
import { lowBalance } from '../tenancy/low-balance.ts'
import { priceSchema } from '../tenancy/price-schema.ts'
import { check } from '../tenancy/problems.ts'
import { PROVIDER_TYPES } from '../tenancy/provider-types/list.ts'
import { MAX_PROVIDERS_PER_APP, providerCost, providerCountries, providerName } from '../tenancy/providers.ts'
import { type SettingsInput, settingsSizeProblems, writtenSettingsSchema } from '../tenancy/settings.ts'
import { channel, shownName, webAddress, webhookSecret } from '../tenancy/value-schemas.ts'

const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9]{1,60}$`), `must be "${prefix}_" followed by letters and digits`)

const name = shownName(100)

/** Settings are checked here and stored as they were written: defaults are resolved when they are read. */
const settings = z.custom<SettingsInput>().superRefine((written, context) => {
  const size = settingsSizeProblems(written)
  const checked = size.length > 0 ? { ok: false as const, problems: size } : check(writtenSettingsSchema, written)
  if (checked.ok) return
  for (const { path, message } of checked.problems)
    context.addIssue({ code: 'custom', path: pathSegments(path), message })
})

const pathSegments = (path: string): string[] => (path === '' ? [] : path.split('.'))

const key = z.strictObject({
  id: id('key'),
  kind: z.enum(['server', 'publishable']).optional(),
  mode: z.enum(['live', 'test']).optional(),
  name: name.optional(),
  key: z
    .string()
    .regex(/^[\x21-\x7e]{8,200}$/, 'must be 8 to 200 visible ASCII characters')
    .optional(),
  /** A file that holds the key; key-files.ts reads it. */
  key_file: z.string().optional(),
})

/** The secrets of each mode, or a file that holds it; key-files.ts reads it. */
const supabaseHook = z.strictObject({
  live: hookSecrets().optional(),
  live_file: z.string().optional(),
  test: hookSecrets().optional(),
  test_file: z.string().optional(),
})

const webhook = z.strictObject({ url: webAddress, secret: webhookSecret.optional() })

const provider = z.strictObject({
  name: providerName,
  channel: channel.optional(),
  type: z.enum(PROVIDER_TYPES),
  countries: providerCountries.optional(),
  cost_micros: providerCost.optional(),
  config: z.unknown().optional(),
})

const app = z.strictObject({
  id: id('app'),
  name: name.optional(),
  settings: settings.optional(),
  keys: z.array(key).optional(),
  webhook: webhook.optional(),
  hooks: z.strictObject({ supabase: supabaseHook.optional() }).optional(),
  providers: z.array(provider).max(MAX_PROVIDERS_PER_APP).optional(),
})

const company = z.strictObject({
  id: id('cmp'),
  name: name.optional(),
  balance: z.int().min(0).optional(),
  low_balance_micros: lowBalance.nullable().optional(),
  apps: z.array(app).optional(),
})

const addressRange = z.strictObject({
  class: z.enum(ADDRESS_CLASSES),
  cidr: z.string().refine(range => canonicalCidr(range) !== null, 'must be an address range, such as "45.95.147.0/24"'),
  /** Whether it is meant that the class holds more than half of all addresses. */
  confirm: z.boolean().optional(),
})

export const bootstrapSchema = z.strictObject({
  companies: z.array(company).optional(),
  prices: z.array(priceSchema).optional(),
  ip_lists: z.array(addressRange).optional(),
})

export type BootstrapFile = z.output<typeof bootstrapSchema>
