import { expect } from 'chai'
import fc from 'fast-check'
import type { AppSettings } from '../../../../machines/settings.ts'
import { resolveSettings, type SettingsInput } from '../../../../services/domain/tenancy/settings.ts'
import { builtInText, type MessageInput, renderMessage } from '../../../../services/domain/texts/message-text.ts'
import { hasLink, ownTextFor, ownTextProblems } from '../../../../services/domain/texts/own-texts.ts'
import { anyText } from '../../../support/any-text.ts'

const settingsWith = (settings: SettingsInput): AppSettings => resolveSettings(settings)
const mail = (template: { text?: string; subject?: string; html?: string }): SettingsInput => ({
  texts: { email: { en: { text: 'Use {code}', ...template } } },
})
const sms = (text: string, more: SettingsInput = {}): SettingsInput => ({ texts: { sms: { en: { text } } }, ...more })

describe('the problems of own texts', () => {
  const problemOf = (settings: SettingsInput, app = 'Shop'): string | null => {
    const [problem] = ownTextProblems(settingsWith(settings), app)
    return problem ? `${problem.path} ${problem.message}` : null
  }
  const long = (length: number) => `{code} ${'x'.repeat(length)}`

  it('are told where a text becomes too long with the name of the app', () => {
    const whatsapp: SettingsInput = { texts: { whatsapp: { en: { text: `{code}${'{app}'.repeat(100)}` } } } }
    expect(problemOf(whatsapp)).to.equal(null)
    expect(problemOf(whatsapp, 'x'.repeat(50))).to.equal(
      'texts.whatsapp.en.text has 5006 characters with code and app name, and may have 4096',
    )
  })

  it('are found in time that grows with the text alone', () => {
    expect(hasLink('a'.repeat(300_000))).to.equal(false)
  })

  it('are none of a text with the code, nor full stops of Chinese and Japanese, decimals or times', () => {
    expect(problemOf(sms('Your {app} code: {code}, good for {minutes} min.'))).to.equal(null)
    expect(
      problemOf(mail({ subject: '{code} for {app}', html: '<b style="a:b">{code}</b> {app} {minutes}' })),
    ).to.equal(null)
    for (const text of ['验证码：{code}。{app}团队。请勿转发', '{code}。Shopより', '{code} v1.2, 10.30 Uhr…bitte'])
      expect(problemOf(sms(text)), text).to.equal(null)
    expect(problemOf(sms('{code} https://shop.example', { text_links: true }))).to.equal(null)
    expect(problemOf(mail({ text: '{code} https://shop.example' }))).to.equal(null)
  })

  for (const [what, settings, problem] of [
    ['no code', sms('Hello'), 'texts.sms.en.text has no {code}'],
    ['no code in the HTML', mail({ html: '<b>hello</b>' }), 'texts.email.en.html has no {code}'],
    ['an unknown placeholder', sms('{code} {name}'), 'texts.sms.en.text has the unknown placeholder {name}'],
    ['a link', sms('{code} https://shop.example'), 'texts.sms.en.text has a link'],
    ['a word that becomes a link', sms('{code} at shop.example'), 'texts.sms.en.text has a link'],
    ['three segments', sms(long(300)), 'texts.sms.en.text takes 3 SMS segments'],
  ] as [string, SettingsInput, string][])
    it(`are found: ${what}`, () =>
      expect(problemOf(settings)).to.match(new RegExp(`^${problem.replaceAll(/[{}.]/g, '.')}`)))

  it('count code, name and domain line', () => {
    const fits = `{code} {app} ${'x'.repeat(290)}`
    expect(problemOf(sms(fits), 'Shop')).to.equal(null)
    expect(problemOf(sms(fits), 'A long name of a shop')).to.contain('takes 3')
    expect(problemOf(sms(fits, { channels: { sms: { domains: ['b.de', 'example.com'] } } }), 'Shop')).to.contain(
      'takes 3',
    )
  })

  it('are links that the name of the app is, or makes together with the text', () => {
    const problem = 'texts.sms.en.text has a link'
    expect(problemOf(sms('{code} for {app}'), 'http://evil.example')).to.include(problem)
    expect(problemOf(sms('{code} at evil.{app}'), 'com/x')).to.include(problem)
    expect(problemOf(sms('{code} at evil.{app}', { text_links: true }), 'com/x')).to.equal(null)
    expect(problemOf(sms('{code} for {app}', { channels: { sms: { domains: ['shop.example'] } } }))).to.equal(null)
  })

  for (const link of [
    '1.2.3.4/x',
    'evil。com/x',
    'ｅｖｉｌ．ｃｏｍ',
    'evil\u2024com',
    'ev\u00adil.c\u00adom',
    'h\u200bttp:/\u200b/evil',
  ])
    it(`are links in other letters, or with letters that are not shown: ${JSON.stringify(link)}`, () =>
      expect(problemOf(sms(`{code} ${link}`))).to.include('has a link'))

  for (const html of [
    '<a href="/?{app}">{code}</a>',
    "<a title='{app}'>{code}</a>",
    '<a x">"={app} y>{code}</a>',
    '<script>{app}</script>{code}',
    '<STYLE>{app}</STYLE >{code}',
    '<!-- {app} -->{code}',
    '<{app}>{code}',
  ])
    it(`are placeholders where escaping does not help: ${html}`, () => {
      const problem = problemOf(mail({ html: html.includes('{code}') ? html : `{code}${html}` }))
      if (html === '<{app}>{code}') expect(problem, 'a tag begins with a letter').to.equal(null)
      else expect(problem).to.contain('placeholders stand in the text')
    })
})

describe('an own text', () => {
  const texts: SettingsInput = {
    locale: 'de',
    texts: { sms: { de: { text: 'DE {code}' }, 'pt-BR': { text: 'BR {code}' }, cy: { text: 'CY {code}' } } },
  }
  const chosen = (wanted: string | null) => ownTextFor(settingsWith(texts), 'sms', wanted)?.text ?? null

  it('is chosen by region, then language, and not where a built-in text fits better', () => {
    expect(chosen('de-AT')).to.equal('DE {code}')
    expect(chosen('pt-BR')).to.equal('BR {code}')
    expect(chosen('pt'), 'the built-in Portuguese').to.equal(null)
    expect(chosen('fr'), 'the built-in French').to.equal(null)
    expect(chosen('cy-GB'), 'a language without a built-in text').to.equal('CY {code}')
    expect(chosen('xx')).to.equal('DE {code}')
    expect(chosen(null)).to.equal('DE {code}')
    expect(ownTextFor(settingsWith(texts), 'email', 'de')).to.equal(null)
    expect(ownTextFor(settingsWith(texts), 'telegram', 'de')).to.equal(null)
  })

  const input = (own: MessageInput['own'], app = 'Shop', code = '123456'): MessageInput => ({
    channel: 'email',
    locale: 'en',
    app,
    code,
    minutes: 10,
    ending: null,
    own: own ?? null,
  })
  const own = (template: { text?: string; subject?: string; html?: string }) => ({
    text: '{app}: {code}\n\nGood for {minutes} min.',
    locale: 'en',
    ...template,
  })

  it('ends with the lines that fill in the code by itself', () => {
    const message = renderMessage({
      ...input(own({ text: 'Use {code}' })),
      channel: 'sms',
      ending: { domain: 'shop.example' },
    })
    expect(message.text).to.equal('Use 123456\n\n@shop.example #123456')
  })

  it('of a mail has the built-in subject, and HTML that is made of the text, where it has none of its own', () => {
    const { text, subject, html } = renderMessage(input(own({})))
    expect([text, subject]).to.deep.equal([
      'Shop: 123456\n\nGood for 10 min.',
      '123456 is your Shop verification code.',
    ])
    expect(html).to.match(/^<!doctype html>/)
    expect(html).to.contain('<bdi>Shop</bdi>: <bdi').and.to.contain('Good for <bdi>10</bdi> min.')
    expect(renderMessage(input(own({ html: '<h1>{code}</h1>' }))).html).to.contain('\n<h1>123456</h1>\n')
    expect(renderMessage(input(own({ html: '<html><p>{code}' }))).html).to.equal('<html><p>123456')
  })

  it('gives no value a way out of the template, whatever the value is', () => {
    const templates = [own({}), own({ subject: '{app} {code}', html: '<p title="x">{app}<b>{code}</b> {minutes}</p>' })]
    const structure = (html: string | null) => html?.replaceAll(/[^<>"']/g, '')
    fc.assert(
      fc.property(anyText(), anyText(), fc.constantFrom(...templates), (app, code, template) => {
        const { html, subject } = renderMessage(input(template, app, code))
        expect(structure(html)).to.equal(structure(renderMessage(input(template, 'x', '1')).html))
        expect(subject).to.not.match(/\p{Cc}/u)
      }),
    )
  })

  it('that repeats the built-in text is the built-in message', () => {
    for (const channel of ['sms', 'whatsapp'] as const) {
      const template = { ...builtInText(channel, 'de'), locale: 'de' }
      const message = { ...input(null), channel, locale: 'de' }
      expect(renderMessage({ ...message, own: template })).to.deep.equal(renderMessage(message))
    }
  })
})
