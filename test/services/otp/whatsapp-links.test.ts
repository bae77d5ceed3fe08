import { expect } from 'chai'
import type { WhatsAppMode } from '../../../machines/settings.ts'
import { resolveSettings } from '../../../services/domain/tenancy/settings.ts'
import { atRest } from '../../../services/domain/verifications/encryption-context.ts'
import { referenceIndex } from '../../../services/domain/verifications/lookup-indexes.ts'
import { referencesIn } from '../../../services/domain/verifications/whatsapp-references.ts'
import { linkFor } from '../../../services/otp/whatsapp-links.ts'
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
  it("opens the app's business number, with a new reference each time", () => {
    expect(linked('en').url.href).to.match(/^https:\/\/wa\.me\/15550001111\?text=[\w%.~-]+$/)
    expect(linked('en').link?.reference).to.not.equal(linked('en').link?.reference)
  })

  it("says in the user's language, or else in that of the app, what sending the message does", () => {
    expect(linked('de-AT').text).to.match(/^Ich bestätige, dass ich mich bei Acme anmelde\.\nReferenz: \w{16}$/)
    expect(linked('pt-BR', 'link_code').text).to.match(/^Acme: envie-me o meu código, por favor\.\nReferência: \w{16}$/)
    expect(linked('he', 'link_code').text).to.match(/Acme\.\n.*: \w{16}$/)
    expect(linked('tlh').text).to.match(/^I confirm that I am signing in to Acme\./)
  })

  it('has a reference that can be read back, in every language and with every app name', () => {
    for (const locale of ['en', 'ar', 'ur', 'th', 'zh-TW'])
      for (const name of ['Acme', 'ABCDEFGHABCDEFGHABCDEFGH', 'متجر', '🛍️']) {
        const { link, text } = linked(locale, 'link_inbound', name)
        expect(referenceIndex(keyring, referencesIn(text)[0] ?? '')).to.equal(link?.reference)
      }
  })

  it('is null in template mode, and without a business number', () => {
    expect(linkFor(keyring, { otp_id, locale: 'en', whatsapp: 'template' }, { name: 'Acme', settings })).to.equal(null)
    const numberless = { name: 'Acme', settings: resolveSettings({}) }
    expect(linkFor(keyring, { otp_id, locale: 'en', whatsapp: 'link_code' }, numberless)).to.equal(null)
  })
})
