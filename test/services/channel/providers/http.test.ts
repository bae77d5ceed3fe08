import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Channel } from '../../../../machines/channels.ts'
import { BadSignature, type Callback, DestinationFault, ProviderFault } from '../../../../services/channel/provider.ts'
import { createHttpProvider, fillBody } from '../../../../services/channel/providers/http.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'
import { anyText } from '../../../support/any-text.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
import { gatewayCall, startHttpGateway } from '../../../support/vendors/http-gateway.ts'
import {
  CALLBACK_URL,
  CODE,
  callbackOf,
  DELIVERY_ID,
  RECIPIENT,
  send,
  testProviderDeps,
  withVendor,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'

describe('an HTTP gateway', () => {
  const suite = withVendor(
    createHttpProvider,
    () => startHttpGateway({ authorization: 'Bearer key-1' }),
    ({ url }): ProviderConfigs['http'] => ({
      url: `${url}/send?tenant=7`,
      method: 'POST',
      headers: { Authorization: 'Bearer key-1' },
      body: { recipient: '{{recipient}}', text: '{{text}}', delivery_id: '{{delivery_id}}' },
      secret: null,
    }),
  )
  const { create, vendor } = suite

  it('is called at the configured address with the configured method, headers and body', async () => {
    const body = {
      to: ['{{recipient}}'],
      code: '{{code}}',
      n: 1,
      deep: { delivery: '<{{delivery_id}}>' },
      delivery_id: '',
    }
    // Those that belong to the connection are ignored.
    const headers = { Authorization: 'Bearer key-1', 'Content-TYPE': 'a/json', 'Content-Length': '3', Expect: 'x' }
    expect(await send(create({ method: 'PUT', headers, body }))).to.deep.equal({ reference: null, httpStatus: 202 })
    const request = vendor().requests.at(-1)
    expect(request).to.include({ method: 'PUT', path: '/send?tenant=7' })
    expect(request?.headers).to.include({ authorization: 'Bearer key-1', 'content-type': 'a/json' })
    expect(vendor().messages.at(-1)?.requestBody).to.deep.equal({
      to: [RECIPIENT],
      code: CODE,
      n: 1,
      deep: { delivery: `<${DELIVERY_ID}>` },
      delivery_id: '',
    })
  })

  itNamesVendorFaults({
    ...suite,
    refused: ProviderFault,
    parsesSuccess: false,
    // Mostly the config is wrong.
    refusals: [
      ...[400, 404, 422].map(status => [{ status }, DestinationFault, `it answered ${status}`] as const),
      ...[401, 409].map(status => [{ status }, ProviderFault, `it answered ${status}`] as const),
    ],
    createProvider: over => create({ secret: 'a secret' }, over),
    secrets: () => ['key-1', 'a secret', 'tenant=7'],
  })
})

const TEXT = 'Shop: your code is 739164.'

describe('the body of an HTTP gateway', () => {
  const values = { recipient: RECIPIENT, text: TEXT, code: CODE, delivery_id: DELIVERY_ID }

  it('has placeholders filled in every string at any depth, and nowhere else', () => {
    const body = {
      a: ['{{code}}{{code}}', 1, null, true],
      '{{code}}': '{{ code }} {{Code}} {{other}} {code} {{{code}}}',
    }
    expect(fillBody(body, values)).to.deep.equal({
      a: [CODE + CODE, 1, null, true],
      '{{code}}': `{{ code }} {{Code}} {{other}} {code} {${CODE}}`,
    })
    expect(fillBody('{{text}}', values)).to.equal(TEXT)
    expect(fillBody(7, values)).to.equal(7)
  })

  it('keeps a member named __proto__', () => {
    const body = JSON.parse('{"__proto__": {"a": "{{code}}"}}')
    expect(JSON.stringify(fillBody(body, values))).to.equal(`{"__proto__":{"a":"${CODE}"}}`)
  })

  it('contains every value unchanged', () => {
    const value = fc.oneof(anyText(), fc.constantFrom('{{code}}', '"', '\\', '\n', '$&', '}}', '{{'))
    const anyValues = fc.record({ recipient: value, text: value, code: value, delivery_id: value })
    const pieces = fc.array(fc.constantFrom('{{recipient}}', '{{text}}', '{{code}}', '{{delivery_id}}', ' ', 'x', '{'))
    fc.assert(
      fc.property(pieces, anyValues, (parts, given) => {
        // A '{' before a placeholder would make another placeholder.
        fc.pre(!parts.join('').includes('{{{'))
        const sent = JSON.parse(JSON.stringify(fillBody({ parts, whole: parts.join('') }, given)))
        const expected = parts.map(part => given[part.slice(2, -2) as keyof typeof given] ?? part)
        expect(sent.parts).to.deep.equal(expected)
        expect(sent.whole).to.equal(expected.join(''))
      }),
    )
  })

  it('stays the same without placeholders', () => {
    fc.assert(
      fc.property(fc.jsonValue(), body => {
        fc.pre(!JSON.stringify(body).includes('{{'))
        expect(fillBody(body as Parameters<typeof fillBody>[0], values)).to.deep.equal(body)
      }),
    )
  })
})

const createReceiver = (secret: string | null, channel: Channel = 'sms') =>
  createHttpProvider(
    { config: { url: 'https://g.example/', method: 'POST', headers: {}, body: {}, secret }, channel },
    testProviderDeps(),
  )

describe("an HTTP gateway's receipts", () => {
  const NOW = Date.UTC(2030, 0, 1)
  const SECRET = 'the secret of a test gateway'
  const SECOND = 1000

  const provider = createReceiver(SECRET)
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
    signedHeaders: ['x-webhook-signature', 'x-webhook-timestamp'],
    // The last time is in milliseconds.
    forged: [...['', 'another', `${SECRET} `].map(secret => signed('{}', NOW, secret)), signed('{}', NOW * 1000)],
    sign: signed,
    malformed: [
      '{"delivery_id":"d"}',
      '{"status":"sent"}',
      '{"delivery_id":"","status":"sent"}',
      '{"delivery_id":"d","status":"queued"}',
      '{"delivery_id":7,"status":"sent"}',
      `{"delivery_id":"${'d'.repeat(201)}","status":"sent"}`,
    ],
  })

  const failure = (more: object, channel: Channel = 'sms') => {
    const callback = signed(JSON.stringify({ delivery_id: DELIVERY_ID, status: 'failed', ...more }))
    const [item] = createReceiver(SECRET, channel).parseCallback?.(callback, NOW) ?? []
    return item?.kind === 'receipt' ? item.failure : undefined
  }

  it('may say why a message failed, and count although that is not understood', () => {
    const said = { reason: 'recipient_unreachable', vendor_code: 'E42', vendor_text: 'No such subscriber' }
    const reason = 'recipient_unreachable'
    expect(failure(said)).to.deep.equal({ reason, vendorCode: 'E42', vendorText: 'No such subscriber' })
    for (const odd of [{}, { reason: 'moon phase', vendor_code: 42, vendor_text: ['x'] }])
      expect(failure(odd)).to.deep.equal({ reason: 'provider_failed', vendorCode: null, vendorText: null })
  })

  it('about mail keep no text, which may name the user of a mailbox', () => {
    expect(failure({ vendor_text: 'ada: no such mailbox' }, 'email')).to.include({ vendorText: null })
  })

  it('are not accepted without a secret to check them with', () => {
    expect(createReceiver(null)).not.to.have.property('parseCallback')
  })

  it('are signed like our own webhooks', () => {
    const body = JSON.stringify({ delivery_id: DELIVERY_ID, status: 'delivered' })
    const headers = signatureHeaders({ id: 'evt_1', body, at: NOW, secrets: [SECRET] })
    expect(parse({ ...receipt('sent'), headers, body: Buffer.from(body) })).to.have.lengthOf(1)
  })

  it('are refused when their time has another format, even if it is signed', () => {
    const call = receipt('sent')
    const seconds = String(NOW / SECOND)
    for (const timestamp of [` ${seconds}`, `+${seconds}`, `${seconds}.0`, new Date(NOW).toISOString()]) {
      const signature = createHmac('sha256', SECRET).update(`${timestamp}.`).update(call.body).digest('hex')
      expectRefused({ ...call, headers: { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': signature } })
    }
  })
})
