import { Buffer } from 'node:buffer'
import process from 'node:process'
import { expect } from 'chai'
import fc from 'fast-check'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import {
  MAX_VENDOR_TEXT,
  patternOfSecrets,
  scrubAnswerText,
  scrubVendorCode,
} from '../../../../services/domain/privacy/answer-scrub.ts'
import { secretsIn } from '../../../../services/domain/tenancy/provider-secrets.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { spellingsOfCode, spellingsOfEmail, spellingsOfNumber } from '../../../support/spellings.ts'

const NUMBER = '+447700900123'
const CODE = '739164'
const personal = { recipient: NUMBER, code: CODE }

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 4, maxLength: 8 })
const numbers = fc.constantFrom('+447911123456', '+14155552671', '+5511987654321', '+4915112345678', '+6581234567')
const addresses = fc.constantFrom(
  'ada.king@example.com',
  'j@bücher.example',
  "o'hara+x@mail.example",
  'ada_1815@x.example',
)
const around = fc.string({ maxLength: 40 })

const digitsOf = (text: string | null): string => (text ?? '').replace(/\D/g, '')

describe("a vendor's text", () => {
  for (const [text, shown] of [
    [
      "The 'To' number +447700900123 is not a valid phone number.",
      "The 'To' number [phone] is not a valid phone number.",
    ],
    ['Unknown subscriber 07700 900 123', 'Unknown subscriber [number]'],
    ['(0)7700-900.123 is off', '([number] is off'],
    ['Text "739164" was filtered', 'Text "[number]" was filtered'],
    ['code 739 164 or 739-164 or 7 3 9 1 6 4', 'code [number] or [number] or [number]'],
    ['to%3D%2B447700900123%26x', 'to=[phone]&x'],
    ['<ada@reader.example>: User unknown', '<[email]>: User unknown'],
    ['see https://v.example/errors/21211?token=abc now', 'see [url] now'],
    ['key AC0123456789abcdef0123456789abcdef is wrong', 'key [hidden] is wrong'],
    ['Try again in 30 seconds', 'Try again in 30 seconds'],
    ['in NDQ3NzAwOTAwMTIz, NzM5MTY0 and NzM5MQ== out', 'in [hidden], [hidden] and [hidden] out'],
    ['twice TnpNNU1UWTA= and after a sign id-NzM5MTY0-x', 'twice [hidden] and after a sign [hidden]'],
    ['<b><i>7</i><i>3</i> <i>9</i>\n<i>1</i><i>6</i><i>4</i></b>', '<b><i>[number]</i></b>'],
    [
      'Delivered to the handler, thank you for calling webhooks',
      'Delivered to the handler, thank you for calling webhooks',
    ],
    ['  two\n\nlines\t here ', 'two lines here'],
  ] as const)
    it(`is shown as ${JSON.stringify(shown)}`, () => {
      expect(scrubAnswerText(text, personal)).to.equal(shown)
    })

  it('has at most 200 characters', () => {
    expect(scrubAnswerText('word '.repeat(1_000), personal)).to.have.lengthOf.at.most(MAX_VENDOR_TEXT)
  })

  it('is null where there is none', () => {
    for (const text of [null, '', ' \n ']) expect(scrubAnswerText(text, personal)).to.equal(null)
  })

  it('hides the user of a mailbox without the domain and without what follows the plus', () => {
    const text = scrubAnswerText('User Ada.King not here', { recipient: 'ada.king@example.com', code: CODE })
    expect(text).to.equal('User [email] not here')
    const recipient = 'ada.king+shop@example.com'
    expect(scrubAnswerText('User Ada.King not here', { recipient, code: CODE })).to.equal('User [email] not here')
  })

  it('never holds the recipient, in any spelling', () => {
    fc.assert(
      fc.property(numbers, digits, around, around, (recipient, code, before, after) => {
        const national = parsePhoneNumberFromString(recipient)?.nationalNumber ?? ''
        for (const spelling of spellingsOfNumber(recipient))
          for (const known of [{ recipient, code }, null]) {
            const left = digitsOf(scrubAnswerText(`${before} ${spelling} ${after}`, known))
            expect(left, spelling).to.not.include(national)
            expect(left, spelling).to.not.include(digitsOf(recipient).slice(-7))
          }
      }),
      { numRuns: propertyRuns(40) },
    )
  })

  it('never holds the address of a recipient, nor its user', () => {
    fc.assert(
      fc.property(addresses, digits, around, (recipient, code, before) => {
        const local = recipient.slice(0, recipient.indexOf('@'))
        for (const spelling of spellingsOfEmail(recipient)) {
          const text =
            scrubAnswerText(`${before.replaceAll(/[a-z@]/gi, '')} ${spelling} is gone`, { recipient, code }) ?? ''
          expect(text.toLowerCase(), spelling).to.not.include(recipient)
          if (local.length > 1) expect(text.toLowerCase(), spelling).to.not.include(local)
        }
      }),
      { numRuns: propertyRuns(40) },
    )
  })

  const base64 = (text: string) => Buffer.from(text).toString('base64')
  for (const [how, spell] of [
    ['with spaces', (text: string) => [...text].join('   ')],
    ['in lines', (text: string) => [...text].join('\n')],
    ['with points', (text: string) => [...text].join('.')],
    ['backwards', (text: string) => [...text].reverse().join('')],
    ['in hexadecimal digits', (text: string) => Buffer.from(text).toString('hex')],
    ['as a list', (text: string) => JSON.stringify([...text])],
    ['in elements', (text: string) => [...text].map(one => `<i>${one}</i>`).join('')],
    ['in Base64', base64],
    ['in Base64 that a letter precedes', (text: string) => `x${base64(text)}`],
    ['in Base64 with spaces', (text: string) => [...base64(text)].join(' ')],
    ['in Base64 in lines', (text: string) => (base64(text).match(/.{1,4}/g) ?? []).join('\n')],
    ['in Base64 twice', (text: string) => base64(base64(text))],
  ] as const)
    it(`never holds the user of an address ${how}`, () => {
      for (const recipient of ['ada.kingsley@reader.example', 'jono@mail.example']) {
        const local = recipient.replace(/@.*/, '')
        for (const written of [recipient, local]) {
          const shown = scrubAnswerText(`it is ${spell(written)} now`, { recipient, code: '' }) ?? ''
          const letters = shown.replace(/<[^>]*>|[^a-z]/g, '')
          const forms = [local.replace('.', ''), [...local].reverse().join('').replace('.', '')]
          for (const form of forms) expect(letters, written).to.not.include(form)
          const tight = shown.replace(/\s/g, '')
          expect(tight).to.not.include(base64(local).slice(0, 5))
          expect(tight).to.not.include(Buffer.from(local).toString('hex'))
        }
      }
    })

  it('takes every address for what it is', () => {
    const local = fc.string({
      unit: fc.constantFrom(...'az09!#$%&\'*+-/=?^_`{|}~."(),:;<>[]\\ '),
      minLength: 1,
      maxLength: 20,
    })
    fc.assert(
      fc.property(local, name => {
        const recipient = `${name}@reader-x.example`
        expect(scrubAnswerText(`no ${recipient} here`, { recipient, code: CODE }) ?? '').to.not.include('@')
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('never holds the code, in any spelling', () => {
    fc.assert(
      fc.property(digits, around, around, (code, before, after) => {
        for (const spelling of spellingsOfCode(code)) {
          const text = scrubAnswerText(`${before} ${spelling} ${after}`, { recipient: NUMBER, code })
          expect(digitsOf(text), spelling).to.not.include(code)
        }
      }),
      { numRuns: propertyRuns(70) },
    )
  })

  it('takes no time, whatever it is', () => {
    for (const text of [
      '1 '.repeat(50_000),
      '@'.repeat(100_000),
      'a'.repeat(100_000),
      '%25'.repeat(30_000),
      '<'.repeat(90_000),
    ]) {
      // The processor's time, which does not depend on what else the machine does.
      const before = process.cpuUsage()
      scrubAnswerText(text, personal)
      expect(process.cpuUsage(before).user / 1_000).to.be.lessThan(500)
    }
  })
})

describe("a vendor's code", () => {
  for (const code of ['21211', '550 5.1.1', 'PHONE_NUMBER_INVALID', 'low-balance', '131026', 'expired'])
    it(`is kept: ${code}`, () => {
      expect(scrubVendorCode(code, personal)).to.equal(code)
    })

  for (const code of [CODE, `E ${CODE}`, '447700900123', NUMBER, '<b>', 'ada@reader.example', '', 'x'.repeat(61)])
    it(`is dropped: ${code.slice(0, 30)}`, () => {
      expect(scrubVendorCode(code, personal)).to.equal(null)
    })

  for (const code of [`E${CODE}`, `${CODE}x`, '739-164', '51234567', 'to 5123456 7'])
    it(`is dropped where it holds the code or a short number of the recipient: ${code}`, () => {
      expect(scrubVendorCode(code, { recipient: '+37251234567', code: CODE })).to.equal(null)
    })
})

describe('the secrets of a config, in what its vendor says', () => {
  const config = {
    url: 'https://gate.example/send?user=shop&apikey=query-key-of-shop',
    headers: { authorization: 'Bearer header.token(of)shop', accept: 'json' },
    body: { to: '{{recipient}}', password: 'pass "word" of body' },
    secret: 'receipt/secret+of shop',
  }
  const secrets = patternOfSecrets(secretsIn('http', config))
  const values = ['query-key-of-shop', 'header.token(of)shop', 'pass "word" of body', 'receipt/secret+of shop']

  it('are hidden as they are, in capitals, in percent encoding, in JSON and in Base64', () => {
    for (const value of values)
      for (const echo of [
        value,
        value.toUpperCase(),
        encodeURIComponent(value),
        encodeURIComponent(encodeURIComponent(value)),
        JSON.stringify(value).slice(1, -1),
        Buffer.from(value).toString('base64'),
        Buffer.from(value).toString('base64url'),
      ])
        expect(scrubAnswerText(`refused: ${echo} .`, personal, secrets), echo).to.equal('refused: [hidden] .')
    expect(scrubAnswerText('got Bearer header.token(of)shop', null, secrets)).to.equal('got [hidden]')
    expect(scrubAnswerText('the user is unknown', personal, secrets), 'other words').to.equal('the user is unknown')
  })

  it('are not shown as an error code', () => {
    expect(scrubVendorCode('query-key-of-shop', personal, secrets)).to.equal(null)
    expect(scrubVendorCode('E7', personal, secrets)).to.equal('E7')
  })

  it('are hidden wherever they stand in any text', () => {
    const secret = fc.string({ minLength: 8, maxLength: 40 }).filter(text => /\S{8}/.test(text))
    fc.assert(
      fc.property(secret, around, around, (value, before, after) => {
        const shown = scrubAnswerText(`${before} ${value} ${after}`, null, patternOfSecrets([value])) ?? ''
        const longest = value.split(/\s+/).sort((one, other) => other.length - one.length)[0] ?? ''
        const isAround = `${before} ${after}`.toLowerCase().includes(longest.toLowerCase())
        expect(isAround || !shown.includes(longest)).to.equal(true)
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it('are not looked for where there are none', () => expect(patternOfSecrets(secretsIn('sandbox', {}))).to.equal(null))
})
