import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { OutboundRequest } from '../../../../infra/outbound/outbound.ts'
import type { Channel } from '../../../../machines/channels.ts'
import {
  BadSignature,
  type Callback,
  type Provider,
  type ProviderDeps,
  ProviderFault,
} from '../../../../services/channel/provider.ts'
import { createHttpProvider, fillBody } from '../../../../services/channel/providers/http.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { signatureHeaders } from '../../../../services/domain/webhooks/signed-event.ts'
import { anyText } from '../../../support/any-text.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
import { gatewayCall, type HttpGateway, startHttpGateway } from '../../../support/vendors/http-gateway.ts'
import {
  CALLBACK_URL,
  CODE,
  callbackOf,
  DELIVERY_ID,
  RECIPIENT,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'

describe('an HTTP gateway', () => {
  let gateway: HttpGateway
  let deps: TestProviderDeps

  before(async () => {
    gateway = await startHttpGateway({ authorization: 'Bearer key-1' })
    deps = testProviderDeps()
  })
  after(async () => {
    await deps.outbound.close()
    await gateway.close()
  })

  const config = (more: Partial<ProviderConfigs['http']> = {}): ProviderConfigs['http'] => ({
    url: `${gateway.url}/send?tenant=7`,
    method: 'POST',
    headers: { Authorization: 'Bearer key-1' },
    body: { recipient: '{{recipient}}', text: '{{text}}', delivery_id: '{{delivery_id}}' },
    secret: null,
    ...more,
  })
  const createProvider = (more: Partial<ProviderConfigs['http']> = {}, over: Partial<ProviderDeps> = {}): Provider =>
    createHttpProvider({ config: config(more), channel: 'sms' }, { ...deps, ...over })

  describe('sending', () => {
    it('calls the configured address with the configured method, headers and body', async () => {
      const body = {
        to: ['{{recipient}}'],
        code: '{{code}}',
        n: 1,
        deep: { delivery: '<{{delivery_id}}>' },
        delivery_id: '',
      }
      expect(await send(createProvider({ method: 'PUT', body }))).to.deep.equal({ reference: null, httpStatus: 202 })
      const request = gateway.requests.at(-1)
      expect(request).to.include({ method: 'PUT', path: '/send?tenant=7' })
      expect(request?.headers).to.include({ authorization: 'Bearer key-1', 'content-type': 'application/json' })
      expect(gateway.messages.at(-1)?.requestBody).to.deep.equal({
        to: [RECIPIENT],
        code: CODE,
        n: 1,
        deep: { delivery: `<${DELIVERY_ID}>` },
        delivery_id: '',
      })
    })

    it('sends a header once, in whatever case the config names it', async () => {
      const requests: OutboundRequest[] = []
      const request: ProviderDeps['outbound']['request'] = async outboundRequest => {
        requests.push(outboundRequest)
        return { status: 200, headers: {}, body: new Uint8Array() }
      }
      await send(createProvider({ headers: { 'Content-TYPE': 'a/json' } }, { outbound: { ...deps.outbound, request } }))
      expect(requests.map(({ headers }) => headers)).to.deep.equal([{ 'content-type': 'a/json' }])
    })

    it('ignores configured headers that belong to the connection', async () => {
      const headers = {
        authorization: 'Bearer key-1',
        'Content-Length': '3',
        'Transfer-Encoding': 'chunked',
        Expect: 'x',
      }
      expect(await send(createProvider({ headers }))).to.deep.equal({ reference: null, httpStatus: 202 })
    })

    it("takes 4xx for the provider's fault, because mostly the config is wrong", async () => {
      for (const headers of [{}, { authorization: 'Bearer key-2' }]) {
        const fault = await thrownBy(send(createProvider({ headers })))
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('message', 'it answered 401')
      }
    })
  })

  itNamesVendorFaults({
    vendor: () => gateway,
    deps: () => deps,
    refused: ProviderFault,
    parsesSuccess: false,
    createProvider: over => createProvider({ secret: 'a secret' }, over),
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

  it('keeps placeholders in values as they are', () => {
    const withPlaceholders = { ...values, text: '{{code}} {{text}} $& $1', recipient: '{{delivery_id}}' }
    expect(fillBody('{{text}}|{{recipient}}', withPlaceholders)).to.equal('{{code}} {{text}} $& $1|{{delivery_id}}')
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
      '{"delivery_id":"d","status":"SENT"}',
      '{"delivery_id":7,"status":"sent"}',
      '{"delivery_id":{"$gt":""},"status":"sent"}',
      `{"delivery_id":"${'d'.repeat(201)}","status":"sent"}`,
    ],
  })

  const failure = (more: object, channel: Channel = 'sms') => {
    const callback = signed(JSON.stringify({ delivery_id: DELIVERY_ID, status: 'failed', ...more }))
    const [item] = createReceiver(SECRET, channel).parseCallback?.(callback, NOW) ?? []
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
})
