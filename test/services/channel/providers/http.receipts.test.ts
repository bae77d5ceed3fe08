import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Channel } from '../../../../machines/channels.ts'
import { BadCallback, BadSignature, type Callback } from '../../../../services/channel/provider.ts'
import { createHttpProvider } from '../../../../services/channel/providers/http.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'
import { gatewayCall } from '../../../support/vendors/http-gateway.ts'
import { CALLBACK_URL, callbackOf, DELIVERY_ID, testProviderDeps } from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'

const createProvider = (secret: string | null, channel: Channel = 'sms') =>
  createHttpProvider(
    { config: { url: 'https://g.example/', method: 'POST', headers: {}, body: {}, secret }, channel },
    testProviderDeps(),
  )

describe("an HTTP gateway's receipts", () => {
  const NOW = Date.UTC(2030, 0, 1)
  const SECRET = 'the secret of a test gateway'
  const SECOND = 1000

  const provider = createProvider(SECRET)
  const parse = (callback: Callback, now = NOW) => provider.parseCallback?.(callback, now)
  const signed = (body: string | Buffer, at = NOW, secret = SECRET): Callback =>
    callbackOf(gatewayCall(CALLBACK_URL, body, secret, at))
  const receipt = (status: string) => signed(JSON.stringify({ delivery_id: DELIVERY_ID, status }))
  const expectRefused = (callback: Callback): void => {
    expect(() => parse(callback)).to.throw(BadSignature)
  }

  itTakesReceipts({
    parse,
    receipt,
    reference: null,
    statuses: { sent: 'sent', delivered: 'delivered', failed: 'failed' },
    signedAt: NOW,
  })

  const failure = (more: object, channel: Channel = 'sms') => {
    const callback = signed(JSON.stringify({ delivery_id: DELIVERY_ID, status: 'failed', ...more }))
    const [item] = createProvider(SECRET, channel).parseCallback?.(callback, NOW) ?? []
    return item?.kind === 'receipt' ? item.failure : undefined
  }

  it('may say why a message failed', () => {
    const said = { reason: 'recipient_unreachable', vendor_code: 'E42', vendor_text: 'No such subscriber' }
    const reason = 'recipient_unreachable'
    expect(failure(said)).to.deep.equal({ reason, vendorCode: 'E42', vendorText: 'No such subscriber' })
    expect(failure({})).to.deep.equal({ reason: 'provider_failed', vendorCode: null, vendorText: null })
  })

  it('count although what they say beside the status is not understood', () => {
    const said = { reason: 'moon phase', vendor_code: 42, vendor_text: ['x'] }
    expect(failure(said)).to.deep.equal({ reason: 'provider_failed', vendorCode: null, vendorText: null })
  })

  it('about mail keep no text, which may name the user of a mailbox', () => {
    expect(failure({ vendor_text: 'ada: no such mailbox' }, 'email')).to.include({ vendorText: null })
  })

  it('are not accepted without a secret to check them with', () => {
    expect(createProvider(null)).not.to.have.property('parseCallback')
  })

  it('are signed like our own webhooks', () => {
    const body = JSON.stringify({ delivery_id: DELIVERY_ID, status: 'delivered' })
    const headers = signatureHeaders({ id: 'evt_1', body, at: NOW, secrets: [SECRET] })
    expect(parse({ ...receipt('sent'), headers, body: Buffer.from(body) })).to.have.lengthOf(1)
  })

  it('are checked over the exact bytes of the body', () => {
    const body = `\u{feff}{ "status": "sent",\r\n "delivery_id": "é" }`
    expect(parse(signed(body))).to.have.lengthOf(1)
    expectRefused({ ...signed(body), body: Buffer.from(body.slice(1)) })
  })

  it('are refused when a byte of a header has changed', () => {
    const call = receipt('sent')
    for (const name of ['x-webhook-signature', 'x-webhook-timestamp']) {
      const value = call.headers[name] ?? ''
      for (let at = 0; at < value.length; at += 1)
        for (const other of ['0', '1', '', ' '].filter(one => one !== value[at]))
          expectRefused({
            ...call,
            headers: { ...call.headers, [name]: value.slice(0, at) + other + value.slice(at + 1) },
          })
    }
  })

  it('are refused when a header is missing or malformed, or signed with another secret', () => {
    const call = receipt('sent')
    for (const name of ['x-webhook-signature', 'x-webhook-timestamp'])
      for (const value of [undefined, '', '0', 'x', '-1', '1e9', 'NaN'])
        expectRefused({ ...call, headers: { ...call.headers, [name]: value } })
    for (const secret of ['', 'another', `${SECRET} `]) expectRefused(signed('{}', NOW, secret))
  })

  it('are refused when their time is in milliseconds', () => {
    expectRefused(signed('{}', NOW * 1000))
  })

  it('are refused when their time has another format, even if it is signed', () => {
    const call = receipt('sent')
    const seconds = String(NOW / SECOND)
    for (const timestamp of [
      ` ${seconds}`,
      `+${seconds}`,
      `${seconds}.0`,
      `${seconds}e0`,
      new Date(NOW).toISOString(),
    ]) {
      const signature = createHmac('sha256', SECRET).update(`${timestamp}.`).update(call.body).digest('hex')
      expectRefused({ ...call, headers: { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature } })
    }
  })

  it('are bad callbacks when they are signed and cannot be parsed', () => {
    for (const body of [
      '',
      '{',
      'null',
      '[]',
      '{}',
      '{"delivery_id":"d"}',
      '{"status":"sent"}',
      '{"delivery_id":"","status":"sent"}',
      '{"delivery_id":"d","status":"queued"}',
      '{"delivery_id":"d","status":"SENT"}',
      '{"delivery_id":7,"status":"sent"}',
      '{"delivery_id":{"$gt":""},"status":"sent"}',
      `{"delivery_id":"${'d'.repeat(201)}","status":"sent"}`,
      '['.repeat(100_000),
      Buffer.from([0x22, 0xff, 0x22]),
    ])
      expect(() => parse(signed(body)), String(body).slice(0, 50)).to.throw(BadCallback)
  })

  it('are refused or bad callbacks for every random input', () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map(text => Buffer.from(text)),
    )
    fc.assert(
      fc.property(anything, fc.string(), fc.string(), (body, signature, timestamp) => {
        const headers = { 'x-webhook-signature': signature, 'x-webhook-timestamp': timestamp }
        expectRefused({ ...receipt('sent'), body, headers })
        expect(() => parse(signed(Buffer.from(body)))).to.throw(BadCallback)
      }),
    )
  })
})
