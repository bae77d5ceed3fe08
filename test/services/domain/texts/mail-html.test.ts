import { expect } from 'chai'
import { directionOf } from '../../../../services/domain/texts/mail-html.ts'
import { LANGUAGES, renderMessage } from '../../../../services/domain/texts/message-text.ts'

const mail = (given: { locale?: string; app?: string; code?: string } = {}): string =>
  renderMessage({
    channel: 'email',
    locale: 'en',
    app: 'Acme',
    code: '123456',
    minutes: 10,
    sms: { domain: null, android_hash: null },
    ...given,
  }).html ?? ''

/** What a reader sees of it. */
const read = (html: string): string =>
  html
    .replace(/^[\s\S]*<body[^>]*>|<\/body>[\s\S]*$/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .trim()

describe('a mail as HTML', () => {
  for (const locale of LANGUAGES)
    it(`says in ${locale} what its text says, and once`, () => {
      const { text } = renderMessage({
        channel: 'email',
        locale,
        app: 'Acme',
        code: '123456',
        minutes: 10,
        sms: { domain: null, android_hash: null },
      })
      expect(read(mail({ locale }))).to.equal(text.replace('\n\n', '\n'))
      expect(read(mail({ locale })).split('123456')).to.have.length(2)
    })

  it('names its language and direction on the document and on what a reader keeps of it', () => {
    for (const locale of LANGUAGES) {
      const side = `lang="${locale}" dir="${directionOf(locale)}"`
      expect(mail({ locale }).split(side)).to.have.length(3)
    }
  })

  it('reads from right to left in Arabic, Hebrew, Persian and Urdu, and in no other language', () => {
    expect(LANGUAGES.filter(locale => directionOf(locale) === 'rtl')).to.have.members(['ar', 'he', 'fa', 'ur'])
    expect(['ar-EG', 'fa-AF', 'arn'].map(directionOf)).to.deep.equal(['rtl', 'rtl', 'ltr'])
  })

  it('isolates the code, left to right, and lets it be selected whole', () => {
    for (const locale of LANGUAGES)
      expect(mail({ locale })).to.match(/<bdi dir="ltr" style="[^"]*user-select:all[^"]*">123456<\/bdi>/)
  })

  it('escapes and isolates whatever an app is called', () => {
    const app = `<script>alert("1")</script> & '{code}' <img src=x onerror=y>\u202e`
    for (const locale of LANGUAGES) {
      const html = mail({ locale, app })
      expect(read(html)).to.contain(app)
      expect(html).to.contain('<bdi>&lt;script&gt;')
      expect(html).to.not.match(/<script|<img/)
    }
  })

  it('needs nothing from anywhere, and fits any colour scheme', () => {
    for (const locale of LANGUAGES) {
      const html = mail({ locale })
      expect(html).to.not.match(/https?:|url\(|src=|href=|<link|@import/i)
      expect(html).to.contain('<meta name="color-scheme" content="light dark">')
      expect(html).to.not.match(/[\s;"](color|background(-color)?):/i)
    }
  })

  it('is small enough that no reader cuts it off', () => {
    for (const locale of LANGUAGES) expect(mail({ locale, app: '漢'.repeat(100) }).length).to.be.lessThan(4_000)
  })
})
