// Request bodies, operation by operation. Every row is sent over HTTP, and only valid ones reach the OTP actor.
import { expect } from 'chai'
import type { OtpAnswer } from '../../../machines/calls.ts'
import { KEYS, OTP_ID, problemOf, startTestEdge, type TestEdge } from '../../support/edge.ts'

const RECIPIENT = '+447911123456'
const TOKEN = `otp_vt_${'a'.repeat(121)}`

const LONG_NAME = 'n'.repeat(40)
const members = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, nth) => [`member_${nth}`, value]))

const PATHS = ['/otp/send', '/otp/resend', '/otp/verify', '/otp/cancel', '/verifications/exchange']

/** Path, body, and the paths of its wrong members. Without wrong members the body is accepted. */
const ROWS: [string, unknown, ...string[]][] = [
  ['/otp/send', { recipient: RECIPIENT }],
  ['/otp/send', { recipient: 'no recipient at all' }],
  ['/otp/send', { recipient: 'x'.repeat(15_000) }],
  ['/otp/send', { recipient: '\ud800\u0000' }],
  ['/otp/send', { recipient: RECIPIENT, locale: null, client_ip: null, channel: null }],
  ['/otp/send', { recipient: RECIPIENT, locale: 'not a locale' }],
  ['/otp/send', { recipient: RECIPIENT, unknown: { deep: [1] }, constructor: 1, toString: null }],
  ['/otp/send', { recipient: RECIPIENT, client_ip: '10.0.0.1' }],
  ['/otp/send', { recipient: RECIPIENT, metadata: { constructor: 'a', prototype: 'b', toString: 'c' } }],
  ['/otp/send', JSON.parse(`{"recipient":"${RECIPIENT}","metadata":{"__proto__":"a"}}`), 'metadata.__proto__'],
  ['/otp/send', { recipient: RECIPIENT, metadata: {} }],
  ['/otp/send', { recipient: RECIPIENT, metadata: { 'Order_no.1-a': '', [LONG_NAME]: 'é'.repeat(256) } }],
  ['/otp/send', { recipient: RECIPIENT, metadata: members(17, 'x') }, 'metadata'],
  ['/otp/send', { recipient: RECIPIENT, metadata: members(16, 'x'.repeat(256)) }, 'metadata'],
  ['/otp/send', { recipient: RECIPIENT, metadata: { order: 'x'.repeat(257) } }, 'metadata.order'],
  ['/otp/send', { recipient: RECIPIENT, metadata: { order: 'A\ud83d' } }, 'metadata.order'],
  ['/otp/send', { recipient: RECIPIENT, metadata: { order: 7 } }, 'metadata.order'],
  ['/otp/send', { recipient: RECIPIENT, metadata: { [`${LONG_NAME}x`]: 'x' } }, `metadata.${LONG_NAME}x`],
  ['/otp/send', { recipient: RECIPIENT, metadata: 'order' }, 'metadata'],
  ['/otp/send', { recipient: RECIPIENT, meta_data: { order: 'x' } }, 'meta_data'],
  ['/otp/send', {}, 'recipient'],
  ['/otp/send', { recipient: 447911123456 }, 'recipient'],
  ['/otp/send', { recipient: RECIPIENT, locale: 7 }, 'locale'],
  ['/otp/send', { recipient: RECIPIENT, client_ip: '0x7f.1' }, 'client_ip'],
  ['/otp/send', { recipient: RECIPIENT, client_ip: '203.0.113.7/32' }, 'client_ip'],
  ['/otp/send', { recipient: RECIPIENT, channel: 'sms' }, 'channel'],
  ['/otp/send', { recipient: 1, locale: 1, client_ip: 1, channel: 1 }, 'recipient', 'locale', 'client_ip', 'channel'],
  ['/otp/send', { recipient: RECIPIENT, clientIp: '8.8.8.8' }, 'clientIp'],
  [
    '/otp/send',
    { recipient: RECIPIENT, 'CLIENT-IP': null, LOCALE: 'en', Channel: 'sms' },
    'LOCALE',
    'CLIENT-IP',
    'Channel',
  ],
  ['/otp/send', { Recipient: RECIPIENT }, 'recipient', 'Recipient'],
  ['/otp/send', { to: RECIPIENT }, 'recipient', 'to'],
  ['/otp/send', { recipient: null, email: 'ada@example.com' }, 'recipient', 'email'],
  ['/otp/verify', { id: OTP_ID, otp: '123456' }, 'otp_id', 'code', 'id', 'otp'],
  ['/otp/verify', { otp_id: OTP_ID, code: '123456', id: 1, otp: 1, pin: 1 }],
  ['/verifications/exchange', { token: TOKEN }, 'verification_token', 'token'],
  ['/otp/send', { recipient: RECIPIENT, to: 'x', phone: 'x', number: 1, email: 'x', ip: '8.8.8.8' }],
  ['/otp/resend', { otpId: OTP_ID, channel: 'sms' }, 'otp_id', 'otpId'],
  ['/otp/cancel', { otp_id: OTP_ID, otpID: OTP_ID }, 'otpID'],
  ['/verifications/exchange', { verificationToken: TOKEN }, 'verification_token', 'verificationToken'],
  ['/otp/resend', { otp_id: OTP_ID }],
  ['/otp/resend', { otp_id: OTP_ID, channel: null, client_ip: 'ignored here' }],
  ['/otp/resend', { otp_id: OTP_ID, channel: 'whatsapp' }],
  ['/otp/resend', { otp_id: 7 }, 'otp_id'],
  ['/otp/resend', { otp_id: OTP_ID, channel: 'fax' }, 'channel'],
  ['/otp/verify', { otp_id: OTP_ID, code: '123456' }],
  ['/otp/verify', { otp_id: OTP_ID, code: ' \n' }, 'code'],
  ['/otp/verify', { otp_id: OTP_ID, code: '-\u00a0\u2010' }, 'code'],
  ['/otp/verify', { otp_id: OTP_ID, code: 123456 }, 'code'],
  ['/otp/verify', {}, 'otp_id', 'code'],
  ['/otp/cancel', { otp_id: OTP_ID }],
  ['/otp/cancel', { otp_id: null }, 'otp_id'],
  ['/verifications/exchange', { verification_token: TOKEN }],
  ['/verifications/exchange', { verification_token: `${TOKEN}a` }, 'verification_token'],
  ['/verifications/exchange', { verification_token: ` ${TOKEN.slice(0, 100)}` }, 'verification_token'],
]

const abbreviate = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 90 ? `${text.slice(0, 87)}…` : text
}

describe('a body at the edge', () => {
  let edge: TestEdge
  before(async () => {
    edge = await startTestEdge()
  })
  after(() => edge.close())
  beforeEach(() => {
    edge.calls.length = 0
    edge.stubs.answer = async () => ({ kind: 'no_such_token' }) satisfies OtpAnswer
  })

  for (const [path, body, ...wrong] of ROWS)
    it(`${path} ${abbreviate(body)} ${wrong.length === 0 ? 'is accepted' : `is wrong in ${wrong.join(', ')}`}`, async () => {
      const response = await edge.post(path, body)
      expect(edge.calls).to.have.length(wrong.length === 0 ? 1 : 0)
      if (wrong.length === 0) return
      expect(response.status).to.equal(422)
      const problem = await problemOf(response)
      expect(problem.type).to.equal('ValidationError')
      const errors = problem.errors as { path: string; message: string }[]
      expect(errors.map(error => error.path)).to.deep.equal(wrong)
      for (const { message } of errors) expect(problem.detail).to.contain(message)
    })

  it('with a misspelt member is told which one was meant, and with a wrong name of metadata which are allowed', async () => {
    const misspelt = await edge.post('/otp/send', { recipient: RECIPIENT, clientIp: '8.8.8.8' })
    expect((await problemOf(misspelt)).detail).to.equal('clientIp is not known; did you mean `client_ip`?')
    const named = await edge.post('/otp/send', { to: RECIPIENT })
    expect((await problemOf(named)).errors).to.deep.include({
      path: 'to',
      message: 'is not known; did you mean `recipient`?',
    })
    const metadata = await edge.post('/otp/send', { recipient: RECIPIENT, metadata: { 'an order': 'A-1' } })
    expect((await problemOf(metadata)).detail).to.equal(
      'metadata.an order has a name that is not allowed: names have 1 to 40 of A–Z, a–z, 0–9, `_`, `.` and `-`.',
    )
    const refused = await edge.post('/otp/send', { recipient: RECIPIENT, Channel: 'sms' })
    expect((await problemOf(refused)).detail).to.equal('Channel cannot be chosen on send: routing chooses it.')
  })

  const raw = (path: string, body: string | Uint8Array | null, headers: Record<string, string> = {}) =>
    edge.request(`/api/v1${path}`, {
      method: 'POST',
      ...(body === null ? {} : { body }),
      headers: { Authorization: `Bearer ${KEYS.serverTest}`, 'Content-Type': 'application/json', ...headers },
    })

  for (const path of PATHS)
    it(`of ${path} is refused by what it is before it is parsed`, async () => {
      const json = { 'Content-Type': 'application/json' }
      const text = { 'Content-Type': 'text/plain' }
      const cases: [string | null, Record<string, string>, number][] = [
        ['"text"', json, 422],
        ['null', json, 422],
        [null, json, 422],
        [null, text, 422],
        ['{}', text, 415],
        ['{"otp_id":', json, 400],
        [`{"pad":"${'x'.repeat(16_384)}"}`, json, 413],
      ]
      for (const [body, headers, status] of cases) {
        const response = await raw(path, body, headers)
        expect(response.status, String(body).slice(0, 20)).to.equal(status)
        const { type, errors } = await problemOf(response)
        expect(type).to.equal(status === 422 ? 'ValidationError' : 'HTTPException')
        if (body !== null && status === 422)
          expect(errors).to.deep.equal([{ path: '', message: 'must be a JSON object' }])
      }
    })

  it('may have MAX_BODY_BYTES, and is 413 with one byte more', async () => {
    const small = await startTestEdge({ maxBodyBytes: 40 })
    const sized = (bytes: number) => ({ recipient: 'x'.repeat(bytes - '{"recipient":""}'.length) })
    expect((await small.post('/otp/send', sized(40))).status).to.equal(200)
    expect((await small.post('/otp/send', sized(41))).status).to.equal(413)
    await small.close()
  })

  const hostile: [string, string, number][] = [
    ['a __proto__', `{"recipient":"${RECIPIENT}","__proto__":{"client_ip":"1.1.1.1","polluted":1}}`, 404],
    ['a __proto__ instead of members', `{"__proto__":{"recipient":"${RECIPIENT}"}}`, 422],
    ['a member twice', `{"recipient":7,"recipient":"${RECIPIENT}"}`, 404],
    ['a huge number', `{"recipient":"${RECIPIENT}","n":1e999999}`, 404],
    ['deep nesting in a member', `{"recipient":${'{"a":'.repeat(20)}1${'}'.repeat(20)}}`, 422],
  ]
  for (const [what, body, status] of hostile)
    it(`with ${what} is ${status}`, async () => {
      expect((await raw('/otp/send', body)).status).to.equal(status)
      expect(edge.calls).to.have.length(status === 404 ? 1 : 0)
      expect('polluted' in {}).to.equal(false)
    })

  it('with a __proto__ has the values of its own members only', async () => {
    await raw('/otp/send', `{"recipient":"${RECIPIENT}","__proto__":{"client_ip":"1.1.1.1"}}`)
    expect(edge.calls[0]?.call).to.include({ sealed_client_ip: null })
  })

  it('never causes a 5xx', () => {
    expect(edge.captured.lines().filter(line => Number(line.status) >= 500)).to.deep.equal([])
  })
})
