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

describe("Telegram's reports", () => {
  for (const [word, status] of [
    ['sent', 'sent'],
    ['delivered', 'delivered'],
    ['read', 'delivered'],
    ['expired', 'failed'],
    ['revoked', 'failed'],
  ] as const)
    it(`${word} is ${status}`, () => {
      expect(parse(report(word))).to.deep.equal([
        { kind: 'receipt', delivery_id: DELIVERY_ID, reference: 'req_1', status },
      ])
    })

  for (const word of ['code_valid', 'something new', '', '__proto__', 'constructor'])
    it(`${JSON.stringify(word)} means nothing here`, () => {
      expect(parse(report(word))).to.deep.equal([])
    })

  it('is found by its request where it carries no payload', () => {
    for (const payload of [undefined, ''])
      expect(parse(report('sent', { payload }))).to.deep.equal([
        { kind: 'receipt', delivery_id: null, reference: 'req_1', status: 'sent' },
      ])
  })

  it('means nothing without a delivery status', () => {
    expect(parse(signed('{"request_id":"req_1","verification_status":{"status":"code_valid"}}'))).to.deep.equal([])
  })

  it('is signed as the documentation says', () => {
    // hex(HMAC_SHA256(timestamp + '\n' + body, SHA256(token))), computed by other means.
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

  it('is refused when signed with another token', () => expectRefused(report('read', { signedWith: 'another' })))

  it('is refused when a byte is changed', () => {
    const { body, ...rest } = report('read')
    for (let at = 0; at < body.length; at += 1) {
      const changed = Buffer.from(body)
      changed[at] = (changed[at] ?? 0) ^ 1
      expectRefused({ ...rest, body: changed })
    }
    expectRefused({ ...rest, body: Buffer.concat([body, Buffer.from(' ')]) })
    expectRefused({ ...rest, body: Buffer.alloc(0) })
  })

  it('is refused when its time is changed', () => {
    const { headers, ...rest } = report('read')
    for (const timestamp of ['1893456001', '', 'soon', '1893456000 ', '-1', '1e9', '１８９３４５６０００'])
      expectRefused({ ...rest, headers: { ...headers, 'x-request-timestamp': timestamp } })
  })

  it('is refused without a signature, or with something like one', () => {
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

  it('is taken in capitals too', () => {
    const { headers, ...rest } = report('read')
    const signature = headers['x-request-signature']?.toUpperCase()
    expect(parse({ ...rest, headers: { ...headers, 'x-request-signature': signature } })).to.have.lengthOf(1)
  })

  it('is refused five minutes later, or earlier', () => {
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
    it(`cannot be read, signed as it is, when it is ${title}`, () => {
      expect(() => parse(signed(body))).to.throw(BadCallback)
    })

  it('throws nothing else, whatever comes, signed or not', () => {
    const isCalm = (callback: Callback): boolean => {
      try {
        return Array.isArray(parse(callback))
      } catch (error) {
        return error instanceof BadSignature || error instanceof BadCallback
      }
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), body => isCalm(signed(body))))
    fc.assert(fc.property(fc.json(), body => isCalm(signed(body))))
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.uint8Array(), (signature, timestamp, body) => {
        const headers = { 'x-request-signature': signature, 'x-request-timestamp': timestamp }
        return isCalm({ method: 'POST', url: new URL(CALLBACK_URL), headers, body })
      }),
    )
  })
})
