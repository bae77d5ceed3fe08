// Each test puts secrets into every place of a log line that can hold a text, and searches the output for them.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { redact } from '../../../infra/log/redact.ts'
import { LANGUAGES, renderMessage } from '../../../services/domain/texts/message-text.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const base62 = (length: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9]{${length}}$`))

/** Secrets that must be recognised by their form: [what is written, what must not be in the output]. */
const recognisable: fc.Arbitrary<string[]> = fc.oneof(
  fc
    .tuple(fc.constantFrom('sk_live_', 'sk_test_', 'pk_live_', 'pk_test_'), base62(43))
    .map(([prefix, rest]) => [prefix + rest, rest]),
  fc.stringMatching(/^[\w-]{69}$/).map(rest => [`otp_vt_${rest}`, rest]),
  fc.stringMatching(/^[A-Za-z0-9+/]{32}$/).map(rest => [`whsec_${rest}`, rest]),
  fc.stringMatching(/^[1-9]\d{6,14}$/).map(digits => [`+${digits}`, digits]),
  fc.stringMatching(/^[1-9]\d{6,14}$/).map(digits => [`%2B${digits}`, digits]),
  fc.emailAddress({ size: 'small' }).map(address => [address, address]),
  fc.stringMatching(/^[A-Za-z0-9._~+/-]{20,60}$/).map(token => [`Bearer ${token}`, token]),
  fc
    .tuple(fc.constantFrom('amqp', 'amqps', 'mongodb', 'mongodb+srv', 'https', 'smtp'), base62(12))
    .map(([scheme, password]) => [`${scheme}://user:${password}@localhost:1234/x`, password]),
  base62(12).map(half => [`amqp://user:${half}/${half}@host`, half]),
  fc.tuple(base62(30), base62(30)).map(([claims, mac]) => [`eyJhbGciOiJIUzI1NiJ9.${claims}.${mac}`, claims]),
  base62(20).map(text => [`https://wa.me/15550001111?text=Verify%20${text}`, text]),
  base62(20).map(token => [`/sign-in?next=1&token=${token}&x=1`, token]),
  base62(20).map(token => [`{"auth_token": "${token}"}`, token]),
  fc.stringMatching(/^\d{6,10}$/).map(code => [`your code is ${code}.`, code]),
)

/** Every place of a line that can hold a text. */
const places: Record<string, (log: ReturnType<typeof createCapturedLog>['log'], text: string) => void> = {
  'a field': (log, text) => log.info({ note: text }, 'event'),
  'a nested field': (log, text) => log.info({ outer: { list: [{ deep: { note: text } }] } }, 'event'),
  'an array': (log, text) => log.info({ list: ['a', text] }, 'event'),
  'a member name': (log, text) => log.info({ counts: { [text]: 1 } }, 'event'),
  'a top member name': (log, text) => log.info({ [text]: 1 }, 'event'),
  'a map and a set': (log, text) => log.info({ map: new Map([[text, text]]), set: new Set([text]) }, 'event'),
  'the message': (log, text) => log.info({}, `sending ${text} failed`),
  'an error': (log, text) => log.error({ err: new Error(`cannot reach ${text}`) }, 'event'),
  'a bare error': (log, text) => log.error(new Error(text), ''),
  'a cause': (log, text) => log.error({ err: new Error('outer', { cause: new Error(text) }) }, 'event'),
  'a cause that is no error': (log, text) => log.error({ err: new Error('outer', { cause: { note: text } }) }, 'event'),
  'an aggregate': (log, text) => log.error({ err: new AggregateError([new Error(text)], text) }, 'event'),
  'an error anywhere': (log, text) => log.error({ failures: [{ why: new TypeError(text) }] }, 'event'),
  'an error type': (log, text) => log.error({ err: Object.assign(new Error('x'), { name: text }) }, 'event'),
  'a child': (log, text) => log.child({ note: text, list: [text] }).info({}, 'event'),
  'something with toJSON': (log, text) => log.info({ odd: { toJSON: () => ({ note: text }) } }, 'event'),
  'a class': (log, text) => log.info(Object.assign(new (class Odd {})(), { note: text }), 'event'),
}

describe('redaction by form', () => {
  for (const [place, plant] of Object.entries(places)) {
    it(`hides secrets and recipients in ${place}`, () => {
      const around = fc.constantFrom(['', ''], ['(', ')'], ['to: ', ', then'], ['"', '"'], ['a\n', '\nb'], ["'", "'"])
      fc.assert(
        fc.property(recognisable, around, fc.boolean(), ([text = '', secret = ''], [before, after], pretty) => {
          const { log, output } = createCapturedLog({ pretty })
          plant(log, `${before}${text}${after}`)
          expect(output()).not.to.equal('')
          expect(output()).not.to.contain(secret)
          expect(output()).not.to.contain(JSON.stringify(secret).slice(1, -1))
        }),
        { numRuns: propertyRuns(50) },
      )
    })
  }

  it('hides addresses, numbers and secrets as people write them', () => {
    const at = [
      'reach me at jörg@bücher.example',
      'a/b@example.com',
      "o'brien+tag@example.co.uk",
      '"odd name"@example.com',
    ]
    for (const text of [...at, 'anna%40example.com'])
      expect(redact({ text2: text }).text2, text).to.match(/^(reach me at )?\[email\]$/)
    for (const text of ['+44 7911 123456', '+1 (500) 555-0010', '+49.151.23456789', 'wa id 447911123456, again'])
      expect(redact({ note: text }).note, text).to.match(/^(wa id )?\[\w+\](, again)?$/)
    for (const [text, secret] of [
      ['x-api-key: 4bcdef', '4bcdef'],
      ['Authorization: AccessKey abcdef123', 'abcdef123'],
      ['password: hunter2', 'hunter2'],
      ["{ auth_token: 'abcdef' }", 'abcdef'],
      ['@shop.example #4711', '4711'],
    ] as const)
      expect(redact({ note: text }).note).not.to.contain(secret)
  })

  it('hides the code in our own messages, quoted by a provider', () => {
    for (const locale of LANGUAGES)
      for (const code of ['0042', '123456', '98765432'])
        for (const channel of ['sms', 'email', 'whatsapp'] as const) {
          const ending = { domain: 'shop.example' }
          const { text, subject } = renderMessage({ channel, locale, app: 'Shop 24', code, minutes: 10, ending })
          const { note, mail } = redact({ note: `400 {"refused":"${text}"}`, mail: subject })
          expect(`${note} ${mail}`, locale).not.to.contain(code)
        }
  })

  it('hides a private key as a whole', () => {
    const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nxyz\n-----END RSA PRIVATE KEY-----'
    expect(redact({ note: `bad: ${pem}!`, cut: pem.slice(0, 40) })).to.deep.equal({
      note: 'bad: [private key]!',
      cut: '[private key]',
    })
  })

  it('is not slow with hostile texts, and cuts long ones between words', () => {
    const hostile = ['a.', 'eyJ', '+1 ', 'amqp://', 'key"', 'token:', '1234 ', '-----BEGIN PRIVATE KEY-----', 'a@a.']
    for (const part of hostile) expect(String(redact({ note: part.repeat(100_000) }).note)).to.have.length.below(20_000)
    const spread = `${'x '.repeat(8_190)}+447911123456 more`
    expect(redact({ note: spread }).note).to.match(/x \[cut\]$/)
  })

  it('does not change ordinary texts', () => {
    const fields = {
      id: 'otp_01jz8x4q3k5m7n9p1r3t5v7w9y',
      route: '/api/v1/otp/:otp_id',
      event: 'delivery.attempted',
      masked_phone: '+44****56',
      masked_email: 'j****@example.com',
      at: '2030-01-01T00:00:00.000Z',
      agent: 'curl/8.5.0',
      note: 'connect ECONNREFUSED 127.0.0.1:27017',
      slow: 'RabbitMQ did not confirm within 15000 ms; port 3000 of 127.0.0.1; code: 404',
      path: 'file:///app/node_modules/@koa/router/dist/index.js:10:5',
      pnpm: '/app/node_modules/.pnpm/koa@3.2.1/node_modules/koa/lib/application.js',
      trace: 'at step (machines/otp.step.ts:12:34)',
      hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      uuid: '6ba7b810-9dad-11d1-80b4-123456789012',
    }
    expect(redact(fields)).to.deep.equal(fields)
  })
})

describe('redaction by name', () => {
  const secretNames = [
    'code', 'codes', 'recipient', 'to', 'from', 'client_ip', 'clientIp', 'text', 'body', 'authorization', 'Authorization',
    'cookie', 'set-cookie', 'key', 'api_key', 'X-Api-Key', 'token', 'verification_token', 'verificationToken', 'secret',
    'secrets', 'app_secret', 'signature_secret', 'password', 'pass', 'auth_token', 'access_token', 'verify_token',
    'hub.verify_token', 'private_key', 'privateKey', 'salt', 'config', 'action_url', 'idempotency_key', 'CODE_SECRETS',
    'DATA_KEYS', 'ADMIN_TOKEN', 'email', 'phone', 'html', 'subject', 'otp', 'apikey', 'content',
  ] // biome-ignore format: a list

  const values = fc.oneof(
    fc.stringMatching(/^[a-z]{12}$/),
    fc.stringMatching(/^[a-z]{12}$/).map(text => ({ nested: [text] })),
    fc.stringMatching(/^[a-z]{12}$/).map(text => Buffer.from(text)),
    fc.integer({ min: 100_000_000, max: 999_999_999 }),
  )
  const secretIn = (value: unknown): string =>
    Buffer.isBuffer(value)
      ? value.toString()
      : typeof value === 'object'
        ? (/[a-z]{12}/.exec(JSON.stringify(value))?.[0] ?? '')
        : String(value)

  for (const name of secretNames) {
    it(`hides ${name} with any value and at any depth`, () => {
      fc.assert(
        fc.property(values, value => {
          const { log, output } = createCapturedLog()
          log
            .child({ [name]: value })
            .info({ [name]: value, a: { list: [{ [name]: value }] }, m: new Map([[name, value]]) }, 'event')
          expect(output()).to.contain('[hidden]')
          expect(output()).not.to.contain(secretIn(value))
        }),
        { numRuns: propertyRuns(20) },
      )
    })
  }

  it('never writes the bytes of a buffer', () => {
    expect(redact({ blob: Buffer.from('secret'), view: new Uint8Array(3) })).to.deep.equal({
      blob: '[6 bytes]',
      view: '[3 bytes]',
    })
  })

  it('still shows whether there was a value', () => {
    expect(redact({ code: null, token: undefined, secret: false })).to.deep.equal({
      code: null,
      token: undefined,
      secret: false,
    })
  })

  it('does not hide members with harmless names', () => {
    const fields = {
      key_id: 'key_1', otp_id: 'otp_1', status: 404, token_ttl_seconds: 600, masked_recipient: '+44****56', status_code: 200,
      country: 'GB', channel: 'sms', attempt: 2, outcome: 'sent', keyed: 1, encoded: 'x', host: 'h.test', generation: 3,
    } // biome-ignore format: a table
    expect(redact(fields)).to.deep.equal(fields)
  })
})
