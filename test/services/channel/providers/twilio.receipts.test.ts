import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { BadCallback, BadSignature, type Callback } from '../../../../services/channel/provider.ts'
import { createTwilioProvider } from '../../../../services/channel/providers/twilio.ts'
import { anyUrl } from '../../../support/any-text.ts'
import {
  CALLBACK_URL,
  callbackOf,
  DELIVERY_ID,
  RECIPIENT,
  testProviderDeps,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'
import { twilioReceipt, twilioSignature } from '../../../support/vendors/twilio.ts'

const ACCOUNT = { account_sid: 'AC123', auth_token: 'the auth token of a test' }

const createProvider = ({ auth_token = ACCOUNT.auth_token } = {}) =>
  createTwilioProvider(
    {
      config: {
        ...ACCOUNT,
        auth_token,
        from: '+15005550006',
        messaging_service_sid: null,
        base_url: 'https://api.twilio.com',
      },
    },
    testProviderDeps(),
  )

describe("Twilio's receipts", () => {
  const provider = createProvider()
  const parse = (callback: Callback) => provider.parseCallback?.(callback, 0)
  /** A signed receipt with these fields alone. */
  const signed = (fields: Record<string, string>, url = CALLBACK_URL): Callback => ({
    method: 'POST',
    url: new URL(url),
    headers: { 'x-twilio-signature': twilioSignature(ACCOUNT.auth_token, url, fields) },
    body: Buffer.from(new URLSearchParams(fields).toString()),
  })
  const receipt = (status: string, query = `?delivery_id=${DELIVERY_ID}`): Callback => {
    const form = { StatusCallback: `${CALLBACK_URL}${query}`, To: RECIPIENT, From: '+15005550006' }
    const call = twilioReceipt({ sid: 'SM123', form }, status, ACCOUNT)
    if (!call) throw new Error('nowhere to call')
    return callbackOf(call)
  }

  itTakesReceipts({
    parse,
    receipt,
    reference: 'SM123',
    statuses: {
      accepted: 'sent',
      scheduled: 'sent',
      queued: 'sent',
      sending: 'sent',
      sent: 'sent',
      partially_delivered: 'sent',
      delivered: 'delivered',
      read: 'delivered',
      undelivered: 'failed',
      failed: 'failed',
      canceled: 'failed',
    },
    ignored: ['received', 'receiving'],
  })

  for (const [fields, reason, vendorCode, vendorText] of [
    [
      { MessageStatus: 'undelivered', ErrorCode: '30003' },
      'recipient_unreachable',
      '30003',
      'Unreachable destination handset',
    ],
    [{ MessageStatus: 'undelivered', ErrorCode: '30004' }, 'recipient_unreachable', '30004', 'Message blocked'],
    [
      { MessageStatus: 'undelivered', ErrorCode: '30005' },
      'recipient_unreachable',
      '30005',
      'Unknown destination handset',
    ],
    [
      { MessageStatus: 'undelivered', ErrorCode: '30006' },
      'recipient_unreachable',
      '30006',
      'Landline or unreachable carrier',
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '21610', ErrorMessage: 'Unsubscribed' },
      'recipient_unreachable',
      '21610',
      'Unsubscribed',
    ],
    [{ MessageStatus: 'failed', ErrorCode: '21211' }, 'recipient_unreachable', '21211', null],
    [{ MessageStatus: 'undelivered', ErrorCode: '30007' }, 'provider_failed', '30007', 'Message filtered'],
    [{ MessageStatus: 'undelivered', ErrorCode: '30008' }, 'provider_failed', '30008', 'Unknown error'],
    [{ MessageStatus: 'undelivered' }, 'provider_failed', 'undelivered', null],
    [{ MessageStatus: 'failed', ErrorCode: RECIPIENT }, 'provider_failed', 'failed', null],
    [{ MessageStatus: 'canceled' }, 'superseded', 'canceled', null],
  ] as const)
    it(`give ${reason} as the reason of ${Object.values(fields).join(', ')}`, () => {
      const [item] = parse(signed({ MessageSid: 'SM1', ...fields })) ?? []
      expect(item).to.deep.include({ failure: { reason, vendorCode, vendorText } })
    })

  it('name the SID if the address has no delivery id', () => {
    expect(parse(receipt('sent', ''))).to.deep.equal([
      { kind: 'receipt', delivery_id: null, reference: 'SM123', status: 'sent' },
    ])
  })

  it('are bad callbacks when they are signed and name no message or no status', () => {
    for (const fields of [{ MessageStatus: 'sent' }, { MessageSid: 'SM1' }, {}] as Record<string, string>[])
      expect(() => parse(signed(fields))).to.throw(BadCallback)
  })

  // The example in Twilio's documentation; Twilio's libraries are tested with it too.
  const EXAMPLE = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675309',
    Digits: '1234',
    From: '+14158675309',
    To: '+18005551212',
  }
  const example = (signature: string, url = 'https://mycompany.com/myapp.php?foo=1&bar=2'): (() => unknown) => {
    const headers = { 'x-twilio-signature': signature }
    const body = Buffer.from(new URLSearchParams(EXAMPLE).toString())
    return () =>
      createProvider({ auth_token: '12345' }).parseCallback?.({ method: 'POST', url: new URL(url), headers, body }, 0)
  }

  it('are signed as the documentation says', () => {
    // A bad callback is correctly signed; the example is not a status of a message.
    expect(example('RSOYDt4T1cUTdK1PDd93/VVr8B8=')).to.throw(BadCallback)
    expect(example('RSOYDt4T1cUTdK1PDd93/VVr8B9=')).to.throw(BadSignature)
  })

  it('are accepted with a signature over the address with or without its port, as in Twilio’s libraries', () => {
    expect(example('kvajT1Ptam85bY51eRf/AJRuM3w=')).to.throw(BadCallback) // …:443
    expect(example('0ZXoZLH/DfblKGATFgpif+LLRf4=', 'http://mycompany.com/myapp.php?foo=1&bar=2')).to.throw(BadCallback)
    expect(example('RSOYDt4T1cUTdK1PDd93/VVr8B8=', 'https://mycompany.com:1234/myapp.php?foo=1&bar=2')).to.throw(
      BadCallback,
    )
    expect(example('Zmvh+3yNM1Phv2jhDCwEM3q5ebU=', 'http://mycompany.com:1234/myapp.php?foo=1&bar=2')).to.throw(
      BadCallback,
    )
  })

  it('are checked with repeated fields as in Twilio’s libraries', () => {
    const body = Buffer.from('MessagingBinding.Address=%2B1415xxxxxxx&MessagingBinding.Address=%2B1325xxxxxxx')
    const headers = { 'x-twilio-signature': '83O6e2vORAoJHUNzJjDWN1jz+BA=' }
    const url = new URL('https://mycompany.com/myapp.php?foo=1&bar=2')
    const provider = createProvider({ auth_token: '12345' })
    expect(() => provider.parseCallback?.({ method: 'POST', url, headers, body }, 0)).to.throw(BadCallback)
  })

  const expectRefused = (callback: Callback): void => {
    expect(() => parse(callback)).to.throw(BadSignature)
  }

  it('are refused when a field is changed, added or missing', () => {
    const signed = receipt('sent')
    const fields = new URLSearchParams(Buffer.from(signed.body).toString())
    const withFields = (changed: URLSearchParams) => expectRefused({ ...signed, body: Buffer.from(changed.toString()) })
    for (const name of fields.keys()) {
      for (const value of ['', `${fields.get(name)}x`, 'delivered']) {
        const changed = new URLSearchParams(fields)
        changed.set(name, value)
        withFields(changed)
      }
      const fewer = new URLSearchParams(fields)
      fewer.delete(name)
      withFields(fewer)
      const twice = new URLSearchParams(fields)
      twice.append(name, 'delivered')
      withFields(twice)
    }
    withFields(new URLSearchParams([...fields, ['MessageStatus', 'delivered']]))
  })

  it('are refused at another address: another app, delivery or host', () => {
    const signed = receipt('sent')
    for (const url of [
      'https://verify.example/callbacks/app_other/gateway?delivery_id=dlv_01jgfj1z000000000000000000',
      'https://verify.example/callbacks/app_shop/gateway?delivery_id=dlv_other',
      'https://verify.example/callbacks/app_shop/gateway',
      'https://evil.example/callbacks/app_shop/gateway?delivery_id=dlv_01jgfj1z000000000000000000',
      'http://verify.example/callbacks/app_shop/gateway?delivery_id=dlv_01jgfj1z000000000000000000',
    ])
      expectRefused({ ...signed, url: new URL(url) })
  })

  it('are refused without a signature, or with one of another account', () => {
    const signed = receipt('sent')
    expectRefused({ ...signed, headers: {} })
    expectRefused({ ...signed, headers: { 'x-twilio-signature': '' } })
    const signature = signed.headers['x-twilio-signature'] ?? ''
    for (let at = 0; at < signature.length; at += 1)
      expectRefused({
        ...signed,
        headers: { 'x-twilio-signature': `${signature.slice(0, at)}-${signature.slice(at + 1)}` },
      })
    expectRefused({ ...signed, headers: { 'x-twilio-signature': signature.replace('=', '') } })
    const fields = Object.fromEntries(new URLSearchParams(Buffer.from(signed.body).toString()))
    for (const token of ['', 'another token', ` ${ACCOUNT.auth_token}`])
      expectRefused({ ...signed, headers: { 'x-twilio-signature': twilioSignature(token, signed.url.href, fields) } })
  })

  it('are refused with a byte order mark, or with bytes that are not UTF-8', () => {
    const signed = receipt('sent')
    expectRefused({ ...signed, body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), signed.body]) })
    expectRefused({ ...signed, body: Buffer.concat([signed.body, Buffer.from([0x26, 0xff, 0xfe, 0x3d, 0xc0])]) })
  })

  it('are refused for every random input', () => {
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 500 }),
      fc.json().map(text => Buffer.from(text)),
    )
    fc.assert(
      fc.property(hostile, fc.string(), anyUrl, (body, signature, url) =>
        expectRefused({ method: 'POST', url: new URL(url), headers: { 'x-twilio-signature': signature }, body }),
      ),
    )
    expectRefused({
      ...receipt('sent'),
      body: Buffer.from(Array.from({ length: 100_000 }, (_, n) => `f${n}=`).join('&')),
    })
    expectRefused({ ...receipt('sent'), body: Buffer.alloc(1_000_000, '%') })
  })

  it('are refused when they are too large, even if they are signed', () => {
    const statusOf = (filler: string) => signed({ MessageStatus: 'sent', MessageSid: 'SM1', Filler: filler })
    expect(parse(statusOf('x'.repeat(16_000)))).to.have.lengthOf(1)
    expectRefused(statusOf('x'.repeat(17_000)))
  })

  it('are parsed with any further fields, if they are signed', () => {
    const field = fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))
    fc.assert(
      fc.property(fc.array(field), more => {
        const fields = { ...Object.fromEntries(more), MessageStatus: 'delivered', MessageSid: 'SM1' }
        expect(parse(signed(fields, `${CALLBACK_URL}?delivery_id=dlv_1`))).to.deep.equal([
          { kind: 'receipt', delivery_id: 'dlv_1', reference: 'SM1', status: 'delivered' },
        ])
      }),
    )
  })
})
