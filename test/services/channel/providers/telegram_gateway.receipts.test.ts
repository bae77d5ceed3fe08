import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { BadCallback, BadSignature, type Callback } from '../../../../services/channel/provider.ts'
import { createTelegramProvider } from '../../../../services/channel/providers/telegram_gateway.ts'
import {
  CALLBACK_URL,
  CODE,
  callbackOf,
  DELIVERY_ID,
  RECIPIENT,
  testProviderDeps,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'
import { telegramReceipt, telegramSignatureHeaders } from '../../../support/vendors/telegram.ts'

const token = 'AAGwTeLeGrAmToKeNoFaTeSt'
const NOW = Date.UTC(2030, 0, 1)
const provider = createTelegramProvider(
  { config: { token, base_url: 'https://gatewayapi.telegram.org' } },
  testProviderDeps(),
)

const parse = (callback: Callback, now = NOW) => provider.parseCallback?.(callback, now)

function report(status: string, more: { payload?: string | undefined; signedWith?: string } = {}): Callback {
  const message = {
    request_id: 'req_1',
    phone_number: RECIPIENT,
    code: CODE,
    ttl: 60,
    callback_url: CALLBACK_URL,
    payload: 'payload' in more ? more.payload : DELIVERY_ID,
  }
  const call = telegramReceipt(message, status, { token: more.signedWith ?? token, now: NOW })
  if (!call) throw new Error('nowhere to call')
  return callbackOf(call)
}

function signed(body: string | Uint8Array): Callback {
  const headers = telegramSignatureHeaders(body, { token, now: NOW })
  return { method: 'POST', url: new URL(CALLBACK_URL), headers, body: Buffer.from(body) }
}

describe("Telegram's receipts", () => {
  itTakesReceipts({
    parse,
    receipt: word => report(word),
    reference: 'req_1',
    statuses: { sent: 'sent', delivered: 'delivered', read: 'delivered', expired: 'failed', revoked: 'failed' },
    ignored: ['code_valid'],
    signedAt: NOW,
  })

  for (const [word, reason] of [
    ['expired', 'recipient_unreachable'],
    ['revoked', 'superseded'],
  ] as const)
    it(`give ${reason} as the reason of ${word}`, () => {
      const failure = { reason, vendorCode: word, vendorText: null }
      expect(parse(report(word))?.[0]).to.deep.include({ failure })
    })

  it('name the request if they have no payload', () => {
    for (const payload of [undefined, ''])
      expect(parse(report('sent', { payload }))).to.deep.equal([
        { kind: 'receipt', delivery_id: null, reference: 'req_1', status: 'sent' },
      ])
  })

  it('are ignored without a delivery status', () => {
    expect(parse(signed('{"request_id":"req_1","verification_status":{"status":"code_valid"}}'))).to.deep.equal([])
  })

  it('are signed as the documentation says', () => {
    // hex(HMAC_SHA256(timestamp + '\n' + body, SHA256(token))), computed with another program.
    const headers = {
      'x-request-timestamp': '1893456000',
      'x-request-signature': '8e8d0e297901baf3ce87b122a5b876aee92d1da0f9c9be005006796cb14debfd',
    }
    const body = Buffer.from('{"request_id":"req_1","delivery_status":{"status":"read"}}')
    expect(parse({ method: 'POST', url: new URL(CALLBACK_URL), headers, body })).to.have.lengthOf(1)
  })

  const expectRefused = (callback: Callback): void => {
    expect(() => parse(callback)).to.throw(BadSignature)
  }

  it('are refused when signed with another token', () => expectRefused(report('read', { signedWith: 'another' })))

  it('are refused when their time has changed', () => {
    const { headers, ...rest } = report('read')
    for (const timestamp of ['1893456001', '', 'soon', '1893456000 ', '-1', '1e9', '１８９３４５６０００'])
      expectRefused({ ...rest, headers: { ...headers, 'x-request-timestamp': timestamp } })
  })

  it('are refused without a signature, or with a malformed one', () => {
    const { headers, ...rest } = report('read')
    const signature = headers['x-request-signature'] ?? ''
    const { 'x-request-signature': _, ...unsigned } = headers
    const { 'x-request-timestamp': __, ...undated } = headers
    expectRefused({ ...rest, headers: unsigned })
    expectRefused({ ...rest, headers: undated })
    expectRefused({ ...rest, headers: {} })
    for (const other of ['', signature.slice(1), `${signature}0`, `0x${signature}`, 'ÿ'.repeat(64), '\ud800'])
      expectRefused({ ...rest, headers: { ...headers, 'x-request-signature': other } })
  })

  it('are accepted with a signature in upper case', () => {
    const { headers, ...rest } = report('read')
    const signature = headers['x-request-signature']?.toUpperCase()
    expect(parse({ ...rest, headers: { ...headers, 'x-request-signature': signature } })).to.have.lengthOf(1)
  })

  for (const [title, body] of Object.entries({
    'no JSON': 'request_id=req_1',
    empty: '',
    'a list': '[]',
    null: 'null',
    'a request without a name': '{"delivery_status":{"status":"read"}}',
    'a request with an odd name': '{"request_id":7,"delivery_status":{"status":"read"}}',
    'an odd status': '{"request_id":"r","delivery_status":"read"}',
    'an odd payload': '{"request_id":"r","payload":{"a":1},"delivery_status":{"status":"read"}}',
    'an endless payload': JSON.stringify({ request_id: 'r', payload: 'x'.repeat(10_000) }),
    'not UTF-8': Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
    deep: '['.repeat(100_000),
  }))
    it(`are bad callbacks when they are signed and the body is ${title}`, () => {
      expect(() => parse(signed(body))).to.throw(BadCallback)
    })

  it('are parsed, refused or bad callbacks for every random input', () => {
    const isHandled = (callback: Callback): boolean => {
      try {
        return Array.isArray(parse(callback))
      } catch (error) {
        return error instanceof BadSignature || error instanceof BadCallback
      }
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), body => isHandled(signed(body))))
    fc.assert(fc.property(fc.json(), body => isHandled(signed(body))))
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.uint8Array(), (signature, timestamp, body) => {
        const headers = { 'x-request-signature': signature, 'x-request-timestamp': timestamp }
        return isHandled({ method: 'POST', url: new URL(CALLBACK_URL), headers, body })
      }),
    )
  })
})
