import { Buffer } from 'node:buffer'
import { createHash, createHmac, generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { BadSignature, type Callback, ProviderFault, RecipientFault } from '../../../../services/channel/provider.ts'
import { createVonageProvider } from '../../../../services/channel/providers/vonage.ts'
import { itNamesVendorFaults, type Refusal } from '../../../support/vendors/fault-cases.ts'
import {
  CALLBACK_URL,
  callbackOf,
  DELIVERY_ID,
  send,
  testProviderDeps,
  thrownBy,
  withVendor,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'
import { startVonage, vonageCall, vonageError, vonageReceipt } from '../../../support/vendors/vonage.ts'

const MINUTE = 60_000

/** The code is logged, so a longer number is not quoted: it may be that of a person. */
const REFUSALS = (
  [
    [401, '#unauthorized', 'unauthorized'],
    [402, '#low-balance', 'low-balance'],
    [422, '?to=447700900123&#1020', '1020'],
    [422, '/messages#11700', '11700'],
    [429, '/messages#1000', '1000'],
    [500, '/messages#1170', '1170'],
    [422, '/messages#447700900123'],
    [422, `/messages#1170${' '.repeat(500)}`],
    [422, '#'],
  ] as const
).map(([status, type, code]): Refusal => {
  const answer = vonageError(status, type, 'to: 447700900123')
  return [answer, ProviderFault, `it answered ${status}${code ? `, ${code}` : ''}`]
})

describe('Vonage', () => {
  const suite = withVendor(
    createVonageProvider,
    ({ clock }) => startVonage({ now: () => clock.now() }),
    ({ application_id, private_key, signature_secret, url }) => ({
      application_id,
      private_key,
      signature_secret: signature_secret as string | null,
      from: 'Shop',
      base_url: url,
    }),
  )
  const { create, vendor, deps } = suite
  const lastBody = () => vendor().messages.at(-1)?.requestBody

  describe('sending', () => {
    it('posts a text message and returns its UUID', async () => {
      const accepted = await send(create({ from: '+447700900001' }))
      const message = vendor().messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.message_uuid, httpStatus: 202 })
      expect(message?.requestBody).to.deep.equal({
        channel: 'sms',
        message_type: 'text',
        to: '447700900123',
        from: '447700900001',
        text: 'Shop: your code is 739164.',
        client_ref: DELIVERY_ID,
        webhook_url: CALLBACK_URL,
        webhook_version: 'v1',
      })
    })

    it('requests no receipts without an address for them, or without a secret to check them with', async () => {
      for (const provider of [create({}, { callbackUrl: null }), create({ signature_secret: null })]) {
        await send(provider)
        expect(lastBody()).not.to.have.any.keys('webhook_url', 'webhook_version')
        expect(provider).not.to.have.property('parseCallback')
      }
    })

    it('signs a new token every ten minutes, with the application, its start and its end', async () => {
      const provider = create()
      const tokens: string[] = []
      for (const wait of [0, 9 * MINUTE, MINUTE, 0, 24 * 60 * MINUTE]) {
        await deps().clock.advance(wait)
        await send(provider) // the simulated vendor checks the token
        tokens.push(vendor().requests.at(-1)?.headers.authorization ?? '')
      }
      const distinct = [...new Set(tokens)]
      expect(tokens.map(token => distinct.indexOf(token))).to.deep.equal([0, 0, 1, 1, 2])
      const claims = distinct.map(token => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()))
      for (const claim of claims) {
        expect(claim).to.have.all.keys('application_id', 'jti', 'iat', 'exp')
        expect(claim.exp - claim.iat).to.equal(15 * 60)
      }
      expect(new Set(claims.map(claim => claim.jti))).to.have.property('size', 3)
    })

    it('signs a new token when the clock was set back', async () => {
      let now = deps().clock.now()
      const provider = create({}, { clock: { ...deps().clock, now: () => now } })
      await send(provider)
      now -= 24 * 60 * MINUTE
      const fault = await thrownBy(send(provider)) // by the vendor's clock the new token has expired
      expect(fault).to.have.property('message', 'it answered 401, unauthorized')
    })

    it("takes a wrong key, no key or a key other than RSA for the provider's fault, when it sends", async () => {
      const pem = (key: ReturnType<typeof generateKeyPairSync>['privateKey']) =>
        key.export({ type: 'pkcs8', format: 'pem' }).toString()
      for (const [private_key, message] of [
        [pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey), 'it answered 401, unauthorized'],
        [pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey), 'its private key is not an RSA key'],
        ['-----BEGIN PRIVATE KEY-----\nhello\n-----END PRIVATE KEY-----', 'its private key cannot be read'],
      ] as const) {
        const fault = await thrownBy(send(create({ private_key })))
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('message', message)
        expect(fault.cause).to.equal(undefined)
      }
    })
  })

  itNamesVendorFaults({
    ...suite,
    refused: RecipientFault,
    parsesSuccess: true,
    refusals: REFUSALS,
    declared: { type: 'vonage', answerWith: code => vonageError(422, `/messages#${code}`, 'to: 447700900123') },
    createProvider: over => create({}, over),
    secrets: () => [
      vendor().signature_secret,
      'PRIVATE KEY',
      vendor().requests.at(-1)?.headers.authorization?.slice(7) ?? 'none',
    ],
  })
})

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
    signedHeaders: ['authorization'],
    forged: [
      callbackOf(vonageCall(CALLBACK_URL, '{}', { ...APPLICATION, signature_secret: 'x' }, { iat: NOW / SECOND })),
    ],
    sign: signed,
    malformed: [
      '{"status":"delivered"}',
      '{"status":7,"message_uuid":"u"}',
      '{"status":"delivered","message_uuid":""}',
      '{"status":"delivered","client_ref":{"$gt":""}}',
      `{"status":"delivered","client_ref":"${'x'.repeat(101)}"}`,
      `{"status":"delivered","message_uuid":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ],
    failures: (
      [
        ['1170', 'recipient_unreachable'],
        ['1180', 'recipient_unreachable'],
        ['1240', 'recipient_unreachable'],
        ['1330', 'provider_failed'],
      ] as const
    ).map(([vendorCode, reason]) => {
      const type = `https://developer.vonage.com/api-errors/messages#${vendorCode}`
      const error = { type, title: 'Sorry', detail: 'No' }
      return [
        signed(JSON.stringify({ status: 'undeliverable', message_uuid: 'u', error })),
        { reason, ...(vendorCode === '1240' && { unsubscribed: true as const }), vendorCode, vendorText: 'Sorry. No' },
      ]
    }),
  })

  it('name the UUID if they have no delivery id, and count although their error is none', () => {
    for (const error of [null, 'odd', [], { type: 7 }]) {
      const [item] = parse(signed(JSON.stringify({ status: 'rejected', message_uuid: 'u', error }))) ?? []
      expect(item).to.have.nested.property('failure.reason', 'provider_failed')
    }
    expect(parse(signed('{"status":"delivered","message_uuid":"uuid-1","client_ref":null}'))).to.deep.equal([
      { kind: 'receipt', delivery_id: null, reference: 'uuid-1', status: 'delivered' },
    ])
  })

  it('are taken with another spelling of the scheme, and refused with another scheme or with two tokens', () => {
    const call = receipt('submitted')
    const bearer = call.headers.authorization ?? ''
    const withHeader = (authorization: string) => ({ ...call, headers: { authorization } })
    expect(parse(withHeader(bearer.replace('Bearer', 'bearer')))).to.have.lengthOf(1)
    const [head, claims] = bearer.split('.')
    for (const other of [`x ${bearer}`, bearer.replace('Bearer', 'Basic'), `${bearer}, ${bearer}`, `${head}.${claims}`])
      expectRefused(withHeader(other))
  })

  it('are refused when the token names another algorithm or none', () => {
    const body = '{"status":"delivered","message_uuid":"uuid-1"}'
    const payload_hash = createHash('sha256').update(body).digest('hex')
    const call = { ...receipt('submitted'), body: Buffer.from(body) }
    const claims = { payload_hash, iat: NOW / SECOND }
    for (const header of [{ alg: 'none' }, { alg: 'RS256' }, { alg: ['HS256'] }, {}, null, 'HS256'])
      expectRefused({ ...call, headers: { authorization: token(header, claims) } })
    const [head, payload] = token({ alg: 'none' }, claims).split('.')
    expectRefused({ ...call, headers: { authorization: `${head}.${payload}.` } })
    expect(parse({ ...call, headers: { authorization: token({ alg: 'HS256' }, claims) } })).to.have.lengthOf(1)
  })

  it('are refused when the claims are wrong: no hash, no time, another application, expired', () => {
    for (const claims of [
      { payload_hash: undefined },
      { payload_hash: '' },
      { iat: undefined },
      { iat: String(NOW / SECOND) },
      { iat: NOW },
      { application_id: 'bbbbbbbb-bbbb-cccc-dddd-0123456789ab' },
      { application_id: '' },
      { exp: NOW / SECOND },
      { exp: 'never' },
    ])
      expectRefused(signed('{"status":"delivered","message_uuid":"uuid-1"}', claims))
    expect(parse(signed('{"message_uuid":"u"}', { application_id: undefined, exp: NOW / SECOND + 1 }))).to.deep.equal(
      [],
    )
  })

  it('are refused with any random token that is signed', () => {
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
