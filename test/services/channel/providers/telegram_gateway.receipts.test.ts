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
import { telegramReceipt, telegramSignatureHeaders } from '../../../support/vendors/telegram.ts'

const token = 'AAGwTeLeGrAmToKeNoFaTeSt'
const NOW = Date.UTC(2030, 0, 1)
const MINUTE = 60_000
const provider = createTelegramProvider(
  { config: { token, base_url: 'https://gatewayapi.telegram.org' } },
  testProviderDeps(),
)

const parse = (callback: Callback, now = NOW) => provider.parseCallback?.(callback, now)

function report(
  status: string,
  more: { payload?: string | undefined; at?: number; signedWith?: string } = {},
): Callback {
  const message = {
    request_id: 'req_1',
    phone_number: RECIPIENT,
    code: CODE,
    ttl: 60,
    callback_url: CALLBACK_URL,
    payload: 'payload' in more ? more.payload : DELIVERY_ID,
  }
  const call = telegramReceipt(message, status, { token: more.signedWith ?? token, now: more.at ?? NOW })
  if (!call) throw new Error('nowhere to call')
  return callbackOf(call)
}

function signed(body: string | Uint8Array): Callback {
  const headers = telegramSignatureHeaders(body, { token, now: NOW })
  return { method: 'POST', url: new URL(CALLBACK_URL), headers, body: Buffer.from(body) }
}

describe("Telegram's receipts", () => {
  for (const [word, status] of [
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'delivered'],
    ['expired', 'failed'],
    ['revoked', 'failed'],
  ] as const)
    it(`report ${status} for ${word}`, () => {
      const [item, ...more] = parse(report(word)) ?? []
      expect(item).to.include({ kind: 'receipt', delivery_id: DELIVERY_ID, reference: 'req_1', status })
      expect('failure' in (item ?? {})).to.equal(status === 'failed')
      expect(more).to.deep.equal([])
    })

  for (const [word, reason] of [
    ['expired', 'recipient_unreachable'],
    ['revoked', 'superseded'],
  ] as const)
    it(`give ${reason} as the reason of ${word}`, () => {
      const failure = { reason, vendorCode: word, vendorText: null }
      expect(parse(report(word))?.[0]).to.deep.include({ failure })
    })

  for (const word of ['code_valid', 'something new', '', '__proto__', 'constructor'])
    it(`are ignored for ${JSON.stringify(word)}`, () => {
      expect(parse(report(word))).to.deep.equal([])
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

  const expectRefused = (callback: Callback, now = NOW): void => {
    expect(() => parse(callback, now)).to.throw(BadSignature)
  }

  it('are refused when signed with another token', () => expectRefused(report('read', { signedWith: 'another' })))

  it('are refused when a byte has changed', () => {
    const { body, ...rest } = report('read')
    for (let at = 0; at < body.length; at += 1) {
      const changed = Buffer.from(body)
      changed[at] = (changed[at] ?? 0) ^ 1
      expectRefused({ ...rest, body: changed })
    }
    expectRefused({ ...rest, body: Buffer.concat([body, Buffer.from(' ')]) })
    expectRefused({ ...rest, body: Buffer.alloc(0) })
  })

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

  it('are refused when they are more than five minutes old or ahead', () => {
    expect(parse(report('read'), NOW + 5 * MINUTE)).to.have.lengthOf(1)
    expect(parse(report('read'), NOW - 5 * MINUTE)).to.have.lengthOf(1)
    expectRefused(report('read'), NOW + 5 * MINUTE + 1)
    expectRefused(report('read'), NOW - 5 * MINUTE - 1)
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
