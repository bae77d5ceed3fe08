import { expect } from 'chai'
import { conflictsOf, patchOf, rebase, withValueAt } from '../../../../services/dashboard/web/data/settings-patch.ts'

const saved = {
  locale: 'en',
  code: { length: 6, ttl_seconds: 600 },
  routing: { default: ['sms', 'email'], countries: { BR: ['whatsapp'], IN: ['sms'] } },
  spend_caps: { GB: 5 },
  allowed_countries: ['GB'],
}

describe('a draft of settings', () => {
  it('is no change when it is the same, in whatever order its members stand', () => {
    expect(patchOf(saved, { ...structuredClone(saved), code: { ttl_seconds: 600, length: 6 } })).to.equal(null)
  })

  it('is the smallest change: members, whole lists, and null for what is gone', () => {
    const draft = {
      ...saved,
      code: { length: 8, ttl_seconds: 600 },
      routing: { default: ['email', 'sms'], countries: { BR: ['whatsapp'], MX: [] } },
      spend_caps: {},
      allowed_countries: null,
    }
    expect(patchOf(saved, draft)).to.deep.equal({
      code: { length: 8 },
      routing: { default: ['email', 'sms'], countries: { IN: null, MX: [] } },
      spend_caps: { GB: null },
      allowed_countries: null,
    })
  })

  it('is edited by path, and leaves the saved settings as they are', () => {
    const draft = withValueAt(withValueAt(saved, 'code.length', 8), 'spend_caps', { GB: 9 })
    expect(draft).to.deep.equal({ ...saved, code: { length: 8, ttl_seconds: 600 }, spend_caps: { GB: 9 } })
    expect(patchOf(saved, draft)).to.deep.equal({ code: { length: 8 }, spend_caps: { GB: 9 } })
    expect(saved.code.length).to.equal(6)
  })

  it('names what it edits and others have changed meanwhile, unless to the same', () => {
    const draft = {
      ...saved,
      code: { length: 8, ttl_seconds: 60 },
      routing: { default: ['sms', 'email'], countries: { BR: ['sms'], IN: ['sms'], GB: ['sms'], MX: ['sms'] } },
      spend_caps: {},
      allowed_countries: ['US'],
    }
    const fresh = {
      ...saved,
      locale: 'de',
      code: { length: 8, ttl_seconds: 600 },
      routing: { default: ['email'], countries: { BR: ['email'], GB: ['email'] } },
      spend_caps: { GB: 6 },
      allowed_countries: null,
    }
    expect(conflictsOf(saved, draft, fresh)).to.deep.equal([
      'routing.countries.BR',
      'routing.countries.GB',
      'spend_caps.GB',
      'allowed_countries',
    ])
    expect(conflictsOf(saved, draft, saved)).to.deep.equal([])
    expect(patchOf(draft, saved), 'what a save replaces').to.deep.include({ spend_caps: { GB: 5 } })
  })

  it('keeps its edits on settings that were changed elsewhere, and takes the rest of them', () => {
    const draft = {
      ...saved,
      code: { length: 8, ttl_seconds: 600 },
      routing: { default: ['sms', 'email'], countries: { BR: ['sms'] } },
    }
    const fresh = {
      ...saved,
      locale: 'de',
      code: { length: 6, ttl_seconds: 300 },
      routing: { default: ['email'], countries: { BR: ['whatsapp'], IN: ['sms'], GB: ['sms'] } },
      spend_caps: {},
    }
    expect(rebase(saved, draft, fresh)).to.deep.equal({
      locale: 'de',
      code: { length: 8, ttl_seconds: 300 },
      routing: { default: ['email'], countries: { BR: ['sms'], GB: ['sms'] } },
      spend_caps: {},
      allowed_countries: ['GB'],
    })
  })
})
