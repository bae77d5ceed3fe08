import { Buffer } from 'node:buffer'
import { createHash, createHmac } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { BadCallback, BadSignature, type Callback } from '../../../../services/channel/provider.ts'
import { createVonageProvider } from '../../../../services/channel/providers/vonage.ts'
import { CALLBACK_URL, callbackOf, DELIVERY_ID, testProviderDeps } from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'
import { vonageCall, vonageReceipt } from '../../../support/vendors/vonage.ts'

const NOW = Date.UTC(2030, 0, 1)
const SECOND = 1000
const APPLICATION = {
  application_id: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
  signature_secret: 'the signature secret of a test',
  private_key: 'unused',
}
const provider = createVonageProvider(
  { config: { ...APPLICATION, from: 'Shop', base_url: 'https://api.nexmo.com' } },
  testProviderDeps(),
)

const parse = (callback: Callback, now = NOW) => provider.parseCallback?.(callback, now)
const expectRefused = (callback: Callback, now = NOW): void => {
  expect(() => parse(callback, now)).to.throw(BadSignature)
}

function receipt(status: string): Callback {
  const requestBody = { to: '447700900123', from: 'Shop', client_ref: DELIVERY_ID, webhook_url: CALLBACK_URL }
  const call = vonageReceipt({ message_uuid: 'uuid-1', requestBody }, status, APPLICATION, NOW)
  if (!call) throw new Error('nowhere to call')
  return callbackOf(call)
}

/** A signed callback with any body; `claims` are added to the token's. */
const signed = (body: string | Buffer, claims: Record<string, unknown> = {}): Callback =>
  callbackOf(vonageCall(CALLBACK_URL, body, APPLICATION, { iat: NOW / SECOND, ...claims }))

/** A token with any header and claims. */
function token(header: unknown, claims: unknown, secret = APPLICATION.signature_secret): string {
  const unsigned = [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `Bearer ${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`
}

describe("Vonage's receipts", () => {
  itTakesReceipts({
    parse,
    receipt,
    reference: 'uuid-1',
    statuses: {
      submitted: 'sent',
      delivered: 'delivered',
      read: 'delivered',
      rejected: 'failed',
      undeliverable: 'failed',
    },
    ignored: ['accepted'],
    signedAt: NOW,
  })

  for (const [code, reason] of [
    ['1050', 'recipient_unreachable'],
    ['1170', 'recipient_unreachable'],
    ['1180', 'recipient_unreachable'],
    ['1190', 'recipient_unreachable'],
    ['1240', 'recipient_unreachable'],
    ['1000', 'provider_failed'],
    ['1070', 'provider_failed'],
    ['1210', 'provider_failed'],
    ['1330', 'provider_failed'],
  ] as const)
    it(`give ${reason} as the reason of ${code}`, () => {
      const error = { type: `https://developer.vonage.com/api-errors/messages#${code}`, title: 'Sorry', detail: 'No' }
      const [item] = parse(signed(JSON.stringify({ status: 'undeliverable', message_uuid: 'u', error }))) ?? []
      expect(item).to.deep.include({ failure: { reason, vendorCode: code, vendorText: 'Sorry. No' } })
    })

  for (const error of [undefined, null, 'odd', [], { type: 7 }])
    it(`count although their error is ${JSON.stringify(error)}`, () => {
      const [item] = parse(signed(JSON.stringify({ status: 'rejected', message_uuid: 'u', error }))) ?? []
      expect(item).to.have.nested.property('failure.reason', 'provider_failed')
    })

  it('name the UUID if they have no delivery id', () => {
    expect(parse(signed('{"status":"delivered","message_uuid":"uuid-1","client_ref":null}'))).to.deep.equal([
      { kind: 'receipt', delivery_id: null, reference: 'uuid-1', status: 'delivered' },
    ])
  })

  it("do not include users' messages", () => {
    const inbound = { channel: 'sms', message_uuid: 'uuid-2', to: '1', from: '2', message_type: 'text', text: 'STOP' }
    expect(parse(signed(JSON.stringify(inbound)))).to.deep.equal([])
  })

  it('are checked over the exact bytes of the body', () => {
    const body = '\u{feff}{ "status": "delivered",\r\n "client_ref": "dlv_\\u0031", "message_uuid":"é" }'
    expect(parse(signed(body))).to.deep.equal([
      { kind: 'receipt', delivery_id: 'dlv_1', reference: 'é', status: 'delivered' },
    ])
    expectRefused({ ...signed(body), body: Buffer.from(body.slice(1)) })
    expectRefused({ ...signed(body), body: Buffer.from(body.replace('\\u0031', '1')) })
  })

  it('are refused when a character of the token has changed', () => {
    const call = receipt('submitted')
    const bearer = call.headers.authorization ?? ''
    for (let at = 'Bearer '.length; at < bearer.length; at += 1)
      for (const other of ['A', 'B', '', '.', '='].filter(one => one !== bearer[at]))
        expectRefused({ ...call, headers: { authorization: bearer.slice(0, at) + other + bearer.slice(at + 1) } })
  })

  it('are refused without a token, or with one of another secret, scheme or format', () => {
    const call = receipt('submitted')
    const bearer = call.headers.authorization ?? ''
    for (const authorization of [
      '',
      'Bearer',
      'Bearer ',
      'Bearer ..',
      'Bearer a.b.c',
      bearer.slice(7),
      `${bearer}.x`,
      `${bearer} `,
      `x ${bearer}`,
      bearer.replace('Bearer', 'Basic'),
      `${bearer}, ${bearer}`,
      bearer.split('.').slice(0, 2).join('.'),
    ])
      expectRefused({ ...call, headers: { authorization } })
    expectRefused({ ...call, headers: {} })
    expectRefused(
      callbackOf(vonageCall(CALLBACK_URL, '{}', { ...APPLICATION, signature_secret: 'x' }, { iat: NOW / SECOND })),
    )
    expect(parse({ ...call, headers: { authorization: bearer.replace('Bearer', 'bearer') } })).to.have.lengthOf(1)
  })

  it('are refused when the token names another algorithm or none', () => {
    const body = '{"status":"delivered","message_uuid":"uuid-1"}'
    const payload_hash = createHash('sha256').update(body).digest('hex')
    const call = { ...receipt('submitted'), body: Buffer.from(body) }
    const claims = { payload_hash, iat: NOW / SECOND }
    for (const header of [
      { alg: 'none' },
      { alg: 'RS256' },
      { alg: 'hs256' },
      { alg: ['HS256'] },
      {},
      null,
      'HS256',
      [],
    ])
      expectRefused({ ...call, headers: { authorization: token(header, claims) } })
    const [head, payload] = token({ alg: 'none' }, claims).split('.')
    expectRefused({ ...call, headers: { authorization: `${head}.${payload}.` } })
    expect(parse({ ...call, headers: { authorization: token({ alg: 'HS256' }, claims) } })).to.have.lengthOf(1)
  })

  it('are refused when the claims are wrong: no hash, no time, another application, expired', () => {
    for (const claims of [
      { payload_hash: undefined },
      { payload_hash: '' },
      { payload_hash: 7 },
      { payload_hash: [''] },
      { iat: undefined },
      { iat: String(NOW / SECOND) },
      { iat: null },
      { iat: NOW },
      { application_id: 'bbbbbbbb-bbbb-cccc-dddd-0123456789ab' },
      { application_id: '' },
      { application_id: null },
      { exp: NOW / SECOND },
      { exp: 0 },
      { exp: 'never' },
    ])
      expectRefused(signed('{"status":"delivered","message_uuid":"uuid-1"}', claims))
    expect(parse(signed('{"message_uuid":"u"}', { application_id: undefined, exp: NOW / SECOND + 1 }))).to.deep.equal(
      [],
    )
  })

  it('are bad callbacks when they are signed and cannot be parsed', () => {
    for (const body of [
      '',
      '{',
      'null',
      '[]',
      '"text"',
      '7',
      '{}',
      '{"status":"delivered"}',
      '{"status":7,"message_uuid":"u"}',
      '{"status":"delivered","message_uuid":""}',
      '{"status":"delivered","client_ref":{"$gt":""}}',
      `{"status":"delivered","client_ref":"${'x'.repeat(101)}"}`,
      '['.repeat(100_000),
      Buffer.from([0x22, 0xff, 0x22]),
      `{"status":"delivered","message_uuid":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ])
      expect(() => parse(signed(body)), String(body).slice(0, 50)).to.throw(BadCallback)
  })

  it('are refused or bad callbacks for every random input', () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map(text => Buffer.from(text)),
    )
    fc.assert(
      fc.property(anything, fc.string(), (body, authorization) => {
        expectRefused({ ...receipt('submitted'), body, headers: { authorization } })
        expect(() => {
          if (parse(signed(Buffer.from(body)))?.length === 0) throw new BadCallback()
        }).to.throw(BadCallback)
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (header, claims) =>
        expectRefused({ ...receipt('submitted'), headers: { authorization: token(header, claims) } }),
      ),
    )
  })

  it('are parsed with any further members, if they are signed', () => {
    const members = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(members, fc.string({ minLength: 1, maxLength: 100 }), (more, client_ref) => {
        const body = JSON.stringify({ ...more, status: 'delivered', message_uuid: 'u', client_ref })
        expect(parse(signed(body))).to.deep.equal([
          { kind: 'receipt', delivery_id: client_ref, reference: 'u', status: 'delivered' },
        ])
      }),
    )
  })
})
