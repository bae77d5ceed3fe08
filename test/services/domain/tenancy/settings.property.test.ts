import { expect } from 'chai'
import fc from 'fast-check'
import { check } from '../../../../services/domain/tenancy/problems.ts'
import { writtenSettingsSchema } from '../../../../services/domain/tenancy/settings.ts'
import { anyUrl } from '../../../support/any-text.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

describe('random app settings', () => {
  it('resolve to settings that resolve to themselves, or report problems at paths that exist', () => {
    fc.assert(
      fc.property(anySettings, written => {
        const before = structuredClone(written)
        const checked = check(writtenSettingsSchema, written)
        expect(written).to.deep.equal(before)
        if (checked.ok) expect(check(writtenSettingsSchema, checked.value)).to.deep.equal(checked)
        else {
          expect(checked.problems).to.not.be.empty
          for (const { path, message } of checked.problems) {
            expect(message).to.not.equal('')
            expect(leadsSomewhere(written, path) || isMissing(written, path), path).to.equal(true)
          }
        }
      }),
      { numRuns: propertyRuns(150) },
    )
  })
})

const often = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: good }, { weight: 1, arbitrary: fc.jsonValue() })
const some = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  often(fc.record(members, { requiredKeys: [] }))
const whole = (min: number, max: number) => often(fc.integer({ min: min - 1, max: max + 1 }))
const anyRules = often(fc.array(some({ max: whole(1, 50), seconds: whole(1, 604800) }), { maxLength: 3 }))
const anyOrder = often(fc.subarray(['sms', 'whatsapp', 'telegram', 'email']))
const anyCountry = fc.constantFrom('GB', 'BR', 'XK', 'UK', 'de')

const anySettings = some({
  locale: often(fc.constantFrom('en', 'pt-br', 'zh-Hant', 'x')),
  code: some({ length: whole(4, 10), ttl_seconds: whole(60, 3600) }),
  verify_attempts: whole(1, 10),
  resend_cooldown_seconds: often(fc.array(whole(0, 3600), { maxLength: 4 })),
  limits: some({ recipient: anyRules, app: anyRules, client_ip_reputation_factor: often(fc.double({ noNaN: true })) }),
  routing: some({ default: anyOrder, countries: often(fc.dictionary(anyCountry, anyOrder)) }),
  channels: some({
    sms: some({ enabled: often(fc.boolean()), domains: often(fc.array(fc.domain(), { maxLength: 5 })) }),
    email: some({}),
  }),
  blocked_countries: often(fc.array(anyCountry, { maxLength: 2 })),
  allowed_origins: often(fc.array(anyUrl, { maxLength: 2 })),
  surprise: fc.jsonValue(),
})

function leadsSomewhere(value: unknown, path: string): boolean {
  if (path === '') return true
  if (typeof value !== 'object' || value === null) return false
  // The name of a member may contain dots, so every way of splitting the path is tried.
  return Object.entries(value).some(
    ([name, member]) =>
      path === name || (path.startsWith(`${name}.`) && leadsSomewhere(member, path.slice(name.length + 1))),
  )
}

/** A required member that is missing in an object that exists. (Every other member has a default.) */
const isMissing = (value: unknown, path: string): boolean =>
  path === 'verify_attempts' ||
  path === 'limits.recipient_verify' ||
  (/\.(max|seconds)$/.test(path) && leadsSomewhere(value, path.replace(/\.[^.]+$/, '')))
