import { expect } from 'chai'
import type { WhatsAppMode } from '../../../machines/settings.ts'
import { resolveSettings } from '../../../services/domain/tenancy/settings.ts'
import { atRest, referenceIndex } from '../../../services/domain/verifications/encryption-context.ts'
import { referencesIn } from '../../../services/domain/verifications/references.ts'
import { linkFor } from '../../../services/otp/links.ts'
import { testKeyring } from '../../support/tenancy.ts'

const otp_id = 'otp_1'
const keyring = testKeyring()
const settings = resolveSettings({ channels: { whatsapp: { business_number: '+15550001111' } } })

function linked(locale: string, whatsapp: WhatsAppMode = 'link_inbound', name = 'Acme') {
  const link = linkFor(keyring, { otp_id, locale, whatsapp }, { name, settings })
  const url = new URL(keyring.unseal(link?.sealed_url ?? '', atRest.link(otp_id)))
  return { link, url, text: url.searchParams.get('text') ?? '' }
}

describe('a wa.me link', () => {
  it('opens the number of the business', () => {
    expect(linked('en').url.href).to.match(/^https:\/\/wa\.me\/15550001111\?text=[\w%.~-]+$/)
  })

  it('has the user say what sending it does, in their language', () => {
    expect(linked('de-AT').text).to.match(/^Ich bestätige, dass ich mich bei Acme anmelde\.\nReferenz: \w{16}$/)
    expect(linked('pt-BR', 'link_code').text).to.match(/^Acme: envie-me o meu código, por favor\.\nReferência: \w{16}$/)
    expect(linked('he', 'link_code').text).to.match(/Acme\.\n.*: \w{16}$/)
  })

  it('speaks the language of the app to whom nobody else speaks', () => {
    expect(linked('tlh').text).to.match(/^I confirm that I am signing in to Acme\./)
  })

  it('carries the reference it is found by, whatever the language and the name', () => {
    for (const locale of ['en', 'ar', 'ur', 'th', 'zh-TW'])
      for (const name of ['Acme', 'ABCDEFGHABCDEFGHABCDEFGH', 'متجر', '🛍️']) {
        const { link, text } = linked(locale, 'link_inbound', name)
        expect(referenceIndex(keyring, referencesIn(text)[0] ?? '')).to.equal(link?.reference)
      }
  })

  it('is new each time', () => {
    expect(linked('en').link?.reference).to.not.equal(linked('en').link?.reference)
  })

  it('is none where the business sends a template, or has no number', () => {
    expect(linkFor(keyring, { otp_id, locale: 'en', whatsapp: 'template' }, { name: 'Acme', settings })).to.equal(null)
    const numberless = { name: 'Acme', settings: resolveSettings({}) }
    expect(linkFor(keyring, { otp_id, locale: 'en', whatsapp: 'link_code' }, numberless)).to.equal(null)
  })
})
