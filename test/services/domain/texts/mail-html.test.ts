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
    ending: null,
    ...given,
  }).html ?? ''

/** The text that a reader sees. */
const visibleText = (html: string): string =>
  html
    .replace(/^[\s\S]*<body[^>]*>|<\/body>[\s\S]*$/g, '')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .trim()

describe('the HTML of a mail', () => {
  for (const locale of LANGUAGES)
    it(`says the same as its text in ${locale}, with the code once`, () => {
      const { text } = renderMessage({
        channel: 'email',
        locale,
        app: 'Acme',
        code: '123456',
        minutes: 10,
        ending: null,
      })
      expect(visibleText(mail({ locale }))).to.equal(text.replace('\n\n', '\n'))
      expect(visibleText(mail({ locale })).split('123456')).to.have.length(2)
    })

  it('names its language and direction on the document and on its content, and isolates the code from left to right, selected by one tap', () => {
    for (const locale of LANGUAGES) {
      const attributes = `lang="${locale}" dir="${directionOf(locale)}"`
      expect(mail({ locale }).split(attributes)).to.have.length(3)
    }
    for (const locale of LANGUAGES)
      expect(mail({ locale })).to.match(/<bdi dir="ltr" style="[^"]*user-select:all[^"]*">123456<\/bdi>/)
  })

  it('reads from right to left in Arabic, Hebrew, Persian and Urdu, and follows the script of other languages', () => {
    expect(LANGUAGES.filter(locale => directionOf(locale) === 'rtl')).to.have.members(['ar', 'he', 'fa', 'ur'])
    expect(['ar-EG', 'fa-AF', 'arn', 'ps', 'dv', 'yi'].map(directionOf)).to.deep.equal([
      'rtl',
      'rtl',
      'ltr',
      'rtl',
      'rtl',
      'rtl',
    ])
  })

  it('escapes and isolates the app’s name', () => {
    const app = `<script>alert("1")</script> & '{code}' <img src=x onerror=y>\u202e`
    for (const locale of LANGUAGES) {
      const html = mail({ locale, app })
      expect(visibleText(html)).to.contain(app)
      expect(html).to.contain('<bdi>&lt;script&gt;')
      expect(html).to.not.match(/<script|<img/)
    }
  })

  it('loads nothing, and sets no colours', () => {
    for (const locale of LANGUAGES) {
      const html = mail({ locale })
      expect(html).to.not.match(/https?:|url\(|src=|href=|<link|@import/i)
      expect(html).to.contain('<meta name="color-scheme" content="light dark">')
      expect(html).to.not.match(/[\s;"](color|background(-color)?):/i)
    }
  })
})
