import { expect } from 'chai'
import type { SendText } from '../../../../machines/otp.ts'
import { smsSegments } from '../../../../machines/sms-segments.ts'
import { SENTENCES } from '../../../../services/domain/texts/languages.ts'
import {
  endingOf,
  LANGUAGES,
  type MessageInput,
  renderMessage,
} from '../../../../services/domain/texts/message-text.ts'

const render = (given: Partial<MessageInput> = {}) =>
  renderMessage({
    channel: 'sms',
    locale: 'en',
    app: 'Acme',
    code: '123456',
    minutes: 10,
    ending: null,
    ...given,
  })

describe('the languages', () => {
  it('are more than twenty, under canonical tags', () => {
    expect(LANGUAGES.length).to.be.greaterThan(20)
    expect(LANGUAGES.map(tag => Intl.getCanonicalLocales(tag)[0])).to.deep.equal(LANGUAGES)
  })

  for (const [tag, { short, valid, notRequested }] of Object.entries(SENTENCES)) {
    it(`have in ${tag} every placeholder of a sentence once`, () => {
      const placeholders = (text: string) => [...text.matchAll(/\{.*?\}/g)].map(([found]) => found).sort()
      expect(placeholders(short)).to.deep.equal(['{app}', '{code}'])
      expect(placeholders(valid)).to.deep.equal(['{minutes}'])
      expect(placeholders(notRequested)).to.deep.equal([])
    })

    it(`fit in ${tag} one SMS segment with an app name of 20 characters, in any script`, () => {
      for (const app of ['Twenty letters right', 'двадцать букв ровно!']) {
        expect(app).to.have.length(20)
        expect(smsSegments(render({ locale: tag, app, code: '12345678' }).text).segments).to.equal(1)
      }
    })
  }

  it('fall back to English', () => {
    for (const locale of ['tlh', '', '__proto__', 'constructor'])
      expect(render({ locale, channel: 'email' })).to.deep.equal(render({ locale: 'en', channel: 'email' }))
  })
})

describe('the text of a message', () => {
  it('says nothing of a life that is not known, in any language, by its own sentences or ours', () => {
    const own = (text: string, more: object = {}) => ({ text, locale: 'en', ...more })
    for (const channel of ['whatsapp', 'email'] as const) {
      for (const locale of LANGUAGES) {
        const { text, html } = render({ channel, locale, minutes: null })
        expect(`${text}${html ?? ''}`, locale).not.to.match(/minutes|null|undefined/)
        expect(text).to.equal(
          render({ channel, locale, minutes: 7654 })
            .text.split('\n')
            .filter(line => !line.includes('7654'))
            .join('\n'),
        )
      }
      expect(render({ channel, minutes: null, own: own('{code}, for {minutes} min') }).text).to.include('verification')
      expect(render({ channel, minutes: null, own: own('{code}, for you') }).text).to.equal('123456, for you')
    }
    const html = own('{code}', { html: '<p>{code} {minutes}</p>' })
    expect(render({ channel: 'email', minutes: null, own: html }).html).not.to.include('{minutes}')
  })

  it('is one sentence in an SMS, and says in a chat how long the code is valid', () => {
    expect(render()).to.deep.equal({ text: '123456 is your Acme verification code.', subject: null, html: null })
    const text = '123456 is your Acme verification code.\nIt is valid for 10 min.'
    const chat = { text, subject: null, html: null }
    expect(render({ channel: 'whatsapp' })).to.deep.equal(chat)
    expect(render({ channel: 'telegram' })).to.deep.equal(chat)
  })

  const HASH = 'FA+9qCX9VSu'
  const listed = { domains: ['example.com', 'example.org'], android_hashes: [HASH, 'AAAAAAAAAAA'] }
  const endings: [what: string, sms: typeof listed, named: SendText, line: string][] = [
    ['the first domain', listed, {}, '@example.com #123456'],
    ['the domain that the send names', listed, { domain: 'example.org' }, '@example.org #123456'],
    ['the hash that the send names, and no domain', listed, { app_hash: HASH, domain: 'example.org' }, HASH],
    ['the first hash, where there is no domain', { ...listed, domains: [] }, {}, HASH],
  ]
  for (const [what, sms, named, line] of endings)
    it(`of an SMS ends with ${what}`, () =>
      expect(render({ ending: endingOf(sms, named) }).text).to.equal(`${render().text}\n\n${line}`))

  it('of an SMS ends with neither where the app lists none', () =>
    expect(endingOf({ domains: [], android_hashes: [] })).to.equal(null))

  it('has these lines in an SMS only', () => {
    const ending = { domain: 'example.com' }
    for (const channel of ['whatsapp', 'telegram', 'email'] as const)
      expect(render({ channel, ending })).to.deep.equal(render({ channel }))
  })

  it('has a subject in a mail, and a sentence for recipients who did not request it', () => {
    const { html, ...plain } = render({ channel: 'email', locale: 'de' })
    expect(html).to.contain('Bestätigungscode')
    expect(plain).to.deep.equal({
      text: '123456 ist Ihr Acme-Bestätigungscode.\n\nEr ist 10 Min. gültig.\nFalls Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht.',
      subject: '123456 ist Ihr Acme-Bestätigungscode.',
    })
  })

  it('contains an app’s name unchanged, even if it looks like a placeholder', () => {
    for (const app of ['{code}', '$&', '{app}', '$1'])
      expect(render({ app }).text).to.equal(`123456 is your ${app} verification code.`)
  })
})

describe('the segments of an SMS', () => {
  it('knows both alphabets and their limits', () => {
    expect(smsSegments('a'.repeat(160))).to.deep.equal({ alphabet: 'GSM-7', units: 160, segments: 1 })
    expect(smsSegments('a'.repeat(161)).segments).to.equal(2)
    expect(smsSegments('€'.repeat(81))).to.deep.equal({ alphabet: 'GSM-7', units: 162, segments: 2 })
    expect(smsSegments('ж'.repeat(70))).to.deep.equal({ alphabet: 'UCS-2', units: 70, segments: 1 })
    expect(smsSegments('ж'.repeat(71)).segments).to.equal(2)
    expect(smsSegments('ó').alphabet).to.equal('UCS-2')
  })
})
