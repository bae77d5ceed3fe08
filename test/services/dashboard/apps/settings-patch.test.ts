import { expect } from 'chai'
import { patchSettings } from '../../../../services/dashboard/apps/settings-patch.ts'
import { settingsPatch } from '../../../../services/dashboard/apps/settings-schemas.ts'
import type { SettingsInput } from '../../../../services/domain/tenancy/settings.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'

describe('a patch of settings', () => {
  const stored: SettingsInput = {
    locale: 'de',
    code: { length: 8, ttl_seconds: 300 },
    allowed_origins: ['https://a.test'],
  }
  const patched = (patch: Record<string, unknown>, to: SettingsInput = stored) => {
    const checked = patchSettings(to, patch)
    return checked.ok ? checked.value : checked.problems.map(({ path }) => path)
  }

  it('merges objects, replaces lists and values', () => {
    expect(patched({ code: { length: 7 }, allowed_origins: [] })).to.deep.equal({
      ...stored,
      code: { length: 7, ttl_seconds: 300 },
      allowed_origins: [],
    })
  })

  it('resets a member, or a whole group, by null', () => {
    expect(patched({ code: { length: null } })).to.deep.equal({ ...stored, code: { ttl_seconds: 300 } })
    expect(patched({ code: null, locale: null })).to.deep.equal({ allowed_origins: ['https://a.test'] })
    const neverSet = { verify_attempts: null, limits: { client_ip: null }, routing: { countries: { BR: null } } }
    expect(patched(neverSet)).to.deep.equal(stored)
  })

  it('keeps a stored null', () => {
    const chosen: SettingsInput = { allowed_countries: null, channels: { whatsapp: { business_number: null } } }
    expect(patched({ locale: 'fr' }, chosen)).to.deep.equal({ ...chosen, locale: 'fr' })
  })

  it('refuses to leave a link mode without a business number', () => {
    const path = 'channels.whatsapp.business_number'
    const linked: SettingsInput = { channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } } }
    expect(patched({ channels: { whatsapp: { mode: 'link_code' } } })).to.deep.equal([path])
    expect(patched({ channels: { whatsapp: { business_number: null } } }, linked)).to.deep.equal([path])
    expect(patched({ channels: { whatsapp: { mode: null, business_number: null } } }, linked)).to.deep.equal({})
    expect(patched({ channels: { whatsapp: { mode: 'link_inbound' } } }, linked)).not.to.be.an('array')
  })

  it('refuses to reset an unknown member', () => {
    expect(patched({ colour: null })).to.deep.equal(['colour'])
    expect(patched({ code: { lenght: null } })).to.deep.equal(['code.lenght'])
    expect(patched({ routing: { countries: { XX: null } } })).to.deep.equal(['routing.countries.XX'])
    expect(patched({ colour: { of: null } })).to.deep.equal(['colour'])
  })

  it('refuses an empty object in place of a value, which would reset it', () => {
    expect(patched({ locale: {}, routing: { default: {}, countries: { GB: {} } } })).to.deep.equal([
      'locale',
      'routing.default',
      'routing.countries.GB',
    ])
    expect(patched({ code: {}, limits: { app: null } })).to.deep.equal(stored)
  })

  it('refuses null inside a list', () => {
    expect(patched({ allowed_origins: [null] })).to.deep.equal(['allowed_origins.0'])
  })

  it('reports every problem once', () => {
    expect(patched({ colour: 1, code: { length: 99 }, routing: { countries: { XX: ['sms'] } } })).to.have.members([
      'colour',
      'code.length',
      'routing.countries.XX',
    ])
  })

  it('refuses a member __proto__ at any depth', () => {
    expect(patched(JSON.parse('{"__proto__":{"locale":"fr"}}'))).to.deep.equal(['__proto__'])
    expect(patched(JSON.parse('{"code":{"__proto__":{"length":4}}}'))).to.deep.equal(['code.__proto__'])
    expect(patched(JSON.parse('{"__proto__":null}'))).to.deep.equal(['__proto__'])
  })

  it('is documented as it is checked: complete settings, null in each member, and no unknown member', () => {
    const settings = resolveSettings({})
    const resets = Object.fromEntries(Object.keys(settings).map(name => [name, null]))
    for (const good of [settings, resets, { limits: { app: null } }])
      expect(settingsPatch.safeParse(good).success).to.equal(true)
    for (const bad of [{ limits: { apps: null } }, { code: { length: 'six' } }])
      expect(settingsPatch.safeParse(bad).success).to.equal(false)
  })

  it('keeps members that a newer release has stored, and the object that is stored', () => {
    const before = structuredClone(stored)
    const newer = { ...stored, voice: { enabled: true } } as SettingsInput
    expect(patched({ locale: 'fr' }, newer)).to.deep.equal({ ...newer, locale: 'fr' })
    patched({ code: { length: 7 }, locale: null })
    expect(stored).to.deep.equal(before)
  })

  it('is refused where the settings would be too large, before it is checked', () => {
    const mails = (languages: string[]) => ({
      email: Object.fromEntries(languages.map(tag => [tag, { text: '{code}', html: `{code}${'x'.repeat(49_000)}` }])),
    })
    const most: SettingsInput = { texts: mails(['en', 'de', 'fr', 'it', 'es']) }
    const capsOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`X${at}`, at]))
    const problemsOf = (patch: Record<string, unknown>, to: SettingsInput = {}) => {
      const checked = patchSettings(to, patch)
      return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path} ${message}`)
    }
    expect(problemsOf({ texts: most.texts })).to.deep.equal([])
    expect(problemsOf({ texts: mails(['pt']) }, most).join()).to.match(
      /^ take \d{6} bytes as JSON, and may take 262144$/,
    )
    expect(problemsOf({ texts: mails(['pt', 'nl', 'da', 'sv', 'fi', 'el']) }).join()).to.match(/bytes as JSON/)
    expect(problemsOf({ allowed_countries: Array(5_000).fill('XX') })).to.deep.equal([
      ' have 5001 members and items together, and may have 4000',
    ])
    expect(
      problemsOf({ spend_caps: capsOf(300), routing: { countries: { BR: Array(301).fill('sms') } } }),
    ).to.deep.equal(['routing.countries.BR has 301 members or items, and may have 300'])
    expect(problemsOf({ limits: { app: Array(51).fill({ max: 1, seconds: 60 }) } })).to.deep.equal([
      'limits.app has 51 members or items, and may have 50',
    ])
    expect(problemsOf(capsOf(301))).to.deep.equal([' has 301 members or items, and may have 300'])
    const tags = Array.from({ length: 101 }, (_, at) => `en-x-${at}`)
    const sms = Object.fromEntries(tags.map(tag => [tag, { text: '{code}' }]))
    expect(problemsOf({ texts: { sms } })).to.deep.equal(['texts.sms has more than 100 languages'])
  })
})
