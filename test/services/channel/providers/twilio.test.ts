import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import {
  BadCallback,
  BadSignature,
  type Callback,
  ProviderFault,
  RecipientFault,
} from '../../../../services/channel/provider.ts'
import { createTwilioProvider } from '../../../../services/channel/providers/twilio.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { itNamesVendorFaults, type Refusal } from '../../../support/vendors/fault-cases.ts'
import {
  CALLBACK_URL,
  callbackOf,
  DELIVERY_ID,
  RECIPIENT,
  renderedMessage,
  send,
  testProviderDeps,
  thrownBy,
  withVendor,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'
import { startTwilio, twilioError, twilioReceipt, twilioSignature } from '../../../support/vendors/twilio.ts'

const answerWith = (code: unknown, status = 400) =>
  twilioError(status, code as number, `The 'To' number ${RECIPIENT} …`)

/** The code is logged, so it is not quoted where it may be a number of a person. */
const REFUSALS = [
  ...[400, 401, 500].map(status => [answerWith(20003, status), ProviderFault, `it answered ${status}, 20003`]),
  [answerWith(21211, 500), ProviderFault, 'it answered 500, 21211'],
  ...['21211', null, [21211], '1e400', 447700900123].map(code => [answerWith(code), ProviderFault, 'it answered 400']),
] as unknown as Refusal[]

const config = (more: Partial<ProviderConfigs['twilio']> = {}): ProviderConfigs['twilio'] => ({
  account_sid: 'AC123',
  auth_token: 'the auth token of a test',
  base_url: 'https://api.twilio.com',
  from: '+15005550006',
  messaging_service_sid: null,
  ...more,
})

describe('Twilio', () => {
  const suite = withVendor(
    createTwilioProvider,
    () => startTwilio(),
    ({ account_sid, auth_token, url }) => config({ account_sid, auth_token, base_url: url }),
  )
  const { create, vendor } = suite
  const lastForm = () => vendor().messages.at(-1)?.form

  describe('sending', () => {
    it('posts the form of a Message resource and returns its SID', async () => {
      const accepted = await send(create())
      const message = vendor().messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.sid, httpStatus: 201 })
      expect(message?.form).to.deep.equal({
        To: RECIPIENT,
        From: '+15005550006',
        Body: 'Shop: your code is 739164.',
        ValidityPeriod: '600',
        StatusCallback: `${CALLBACK_URL}?delivery_id=${DELIVERY_ID}`,
      })
    })

    it('names a messaging service, with or without a sender', async () => {
      await send(create({ from: null, messaging_service_sid: 'MG1' }))
      expect(lastForm()).to.include({ MessagingServiceSid: 'MG1' }).and.not.to.have.property('From')
      await send(create({ messaging_service_sid: 'MG1' }))
      expect(lastForm()).to.include({ MessagingServiceSid: 'MG1', From: '+15005550006' })
    })

    it('requests no receipts without an address for them', async () => {
      const provider = create({}, { callbackUrl: null })
      await send(provider)
      expect(lastForm()).not.to.have.property('StatusCallback')
      expect(provider).not.to.have.property('parseCallback')
    })

    it("gives the message the code's time to live, within Twilio's limits", async () => {
      for (const [ttl_ms, seconds] of [
        [61_001, '62'],
        [1, '6'],
        [90_000_000, '36000'],
      ] as const) {
        await send(create(), renderedMessage({}, { rules: { ttl_ms } }))
        expect(lastForm()?.ValidityPeriod).to.equal(seconds)
      }
    })

    it('escapes an account id that looks like a path', async () => {
      expect(await thrownBy(send(create({ account_sid: '../../x?y' })))).to.be.instanceOf(ProviderFault)
      expect(vendor().requests.at(-1)?.path).to.equal('/2010-04-01/Accounts/..%2F..%2Fx%3Fy/Messages.json')
    })
  })

  itNamesVendorFaults({
    ...suite,
    refused: RecipientFault,
    parsesSuccess: true,
    refusals: REFUSALS,
    declared: { type: 'twilio', answerWith: code => answerWith(Number(code)) },
    createProvider: over => create({}, over),
    secrets: () => {
      const { account_sid, auth_token } = vendor()
      return [auth_token, Buffer.from(`${account_sid}:${auth_token}`).toString('base64')]
    },
  })
})

const ACCOUNT = config()
const createReceiver = (more = {}) => createTwilioProvider({ config: config(more) }, testProviderDeps())

const STATUS = { MessageStatus: 'sent', MessageSid: 'SM1' }

describe("Twilio's receipts", () => {
  const provider = createReceiver()
  const parse = (callback: Callback) => provider.parseCallback?.(callback, 0)
  /** A signed receipt with these fields alone. */
  const signed = (fields: Record<string, string>, url = CALLBACK_URL, token = ACCOUNT.auth_token): Callback => ({
    method: 'POST',
    url: new URL(url),
    headers: { 'x-twilio-signature': twilioSignature(token, url, fields) },
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
    signedHeaders: ['x-twilio-signature'],
    forged: ['', 'another token', ` ${ACCOUNT.auth_token}`].map(token => signed(STATUS, CALLBACK_URL, token)),
    failures: (
      [
        [{ ErrorCode: '30003' }, 'recipient_unreachable', '30003', 'Unreachable destination handset'],
        [{ ErrorCode: '21610', ErrorMessage: 'Unsubscribed' }, 'recipient_unreachable', '21610', 'Unsubscribed'],
        [{ ErrorCode: '21211' }, 'recipient_unreachable', '21211', null],
        [{ ErrorCode: '30007' }, 'provider_failed', '30007', 'Message filtered'],
        [{ ErrorCode: RECIPIENT }, 'provider_failed', 'failed', null],
        [{ MessageStatus: 'undelivered' }, 'provider_failed', 'undelivered', null],
        [{ MessageStatus: 'canceled' }, 'superseded', 'canceled', null],
      ] as const
    ).map(([fields, reason, vendorCode, vendorText]) => [
      signed({ MessageSid: 'SM1', MessageStatus: 'failed', ...fields }),
      { reason, ...(vendorCode === '21610' && { unsubscribed: true as const }), vendorCode, vendorText },
    ]),
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
      createReceiver({ auth_token: '12345' }).parseCallback?.({ method: 'POST', url: new URL(url), headers, body }, 0)
  }

  it('are signed as the documentation says', () => {
    // A bad callback is correctly signed; the example is not a status of a message.
    expect(example('RSOYDt4T1cUTdK1PDd93/VVr8B8=')).to.throw(BadCallback)
    expect(example('RSOYDt4T1cUTdK1PDd93/VVr8B9=')).to.throw(BadSignature)
  })

  it('are accepted with a signature over the address with or without its port, as in Twilio’s libraries', () => {
    expect(example('kvajT1Ptam85bY51eRf/AJRuM3w=')).to.throw(BadCallback) // …:443
    for (const [signature, origin] of [
      ['0ZXoZLH/DfblKGATFgpif+LLRf4=', 'http://mycompany.com'],
      ['RSOYDt4T1cUTdK1PDd93/VVr8B8=', 'https://mycompany.com:1234'],
      ['Zmvh+3yNM1Phv2jhDCwEM3q5ebU=', 'http://mycompany.com:1234'],
    ] as const)
      expect(example(signature, `${origin}/myapp.php?foo=1&bar=2`)).to.throw(BadCallback)
  })

  it('are checked with repeated fields as in Twilio’s libraries', () => {
    const body = Buffer.from('MessagingBinding.Address=%2B1415xxxxxxx&MessagingBinding.Address=%2B1325xxxxxxx')
    const headers = { 'x-twilio-signature': '83O6e2vORAoJHUNzJjDWN1jz+BA=' }
    const url = new URL('https://mycompany.com/myapp.php?foo=1&bar=2')
    const provider = createReceiver({ auth_token: '12345' })
    expect(() => provider.parseCallback?.({ method: 'POST', url, headers, body }, 0)).to.throw(BadCallback)
  })

  const expectRefused = (callback: Callback): void => {
    expect(() => parse(callback)).to.throw(BadSignature)
  }

  it('are refused when a field is repeated, and at another address: another app, delivery or host', () => {
    const signed = receipt('sent')
    const fields = [...new URLSearchParams(Buffer.from(signed.body).toString())]
    for (const [name] of fields)
      expectRefused({ ...signed, body: Buffer.from(new URLSearchParams([...fields, [name, 'delivered']]).toString()) })
    for (const [part, other] of [
      ['app_shop', 'app_other'],
      [DELIVERY_ID, 'dlv_other'],
      [`?delivery_id=${DELIVERY_ID}`, ''],
      ['verify.example', 'evil.example'],
      ['https:', 'http:'],
    ] as const)
      expectRefused({ ...signed, url: new URL(signed.url.href.replace(part, other)) })
  })

  it('are refused with bytes that are not UTF-8, and with a hundred thousand fields', () => {
    const signed = receipt('sent')
    for (const body of [
      Buffer.concat([signed.body, Buffer.from([0x26, 0xff, 0xfe, 0x3d, 0xc0])]),
      Buffer.from(Array.from({ length: 100_000 }, (_, n) => `f${n}=`).join('&')),
      Buffer.alloc(1_000_000, '%'),
    ])
      expectRefused({ ...signed, body })
  })

  it('are refused when they are too large, even if they are signed', () => {
    const statusOf = (filler: string) => signed({ ...STATUS, Filler: filler })
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
