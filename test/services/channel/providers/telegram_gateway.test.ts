import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { type Callback, ProviderFault, RecipientFault, UnknownOutcome } from '../../../../services/channel/provider.ts'
import { createTelegramProvider } from '../../../../services/channel/providers/telegram_gateway.ts'
import { itNamesVendorFaults, type Refusal } from '../../../support/vendors/fault-cases.ts'
import {
  CALLBACK_URL,
  CODE,
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
import {
  startTelegram,
  telegramError,
  telegramReceipt,
  telegramSignatureHeaders,
} from '../../../support/vendors/telegram.ts'

/** An error is quoted by its name only, if that looks like a name, and without numbers. */
const REFUSALS: Refusal[] = [
  [telegramError('PHONE_NUMBER_INVALID', 400), RecipientFault, 'it answered PHONE_NUMBER_INVALID'],
  [telegramError('ACCESS_TOKEN_INVALID'), ProviderFault, 'it answered 200, ACCESS_TOKEN_INVALID'],
  [telegramError('BALANCE_NOT_ENOUGH', 402), ProviderFault, 'it answered 402, BALANCE_NOT_ENOUGH'],
  [telegramError('FLOOD_WAIT'), ProviderFault, 'it answered 200, FLOOD_WAIT'],
  [telegramError('MESSAGE_ALREADY_SENT'), UnknownOutcome, 'it answered MESSAGE_ALREADY_SENT'],
  [telegramError(`X_${CODE}`), ProviderFault, 'it answered 200, X_n'],
  ...['not a name', '', '__proto__', `no ${RECIPIENT} ${CODE}`].map(
    name => [telegramError(name), ProviderFault, 'it answered 200'] as const,
  ),
]

describe('the Telegram Gateway', () => {
  const suite = withVendor(
    createTelegramProvider,
    ({ clock }) => startTelegram({ now: clock.now }),
    ({ token, url: base_url }) => ({ token, base_url }),
  )
  const { create, vendor, deps } = suite

  describe('sending', () => {
    it('is one call, with the code, its time to live and the delivery id; returns the id of the request', async () => {
      const requestsBefore = vendor().requests.length
      const accepted = await send(create())
      const message = vendor().messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.request_id, httpStatus: 200 })
      expect(message).to.deep.include({ phone_number: RECIPIENT, code: CODE, ttl: 600, payload: DELIVERY_ID })
      expect(message?.callback_url).to.equal(CALLBACK_URL)
      expect(vendor().requests, 'a check before it would be charged').to.have.length(requestsBefore + 1)
    })

    it("gives the message the code's time to live, within Telegram's limits", async () => {
      for (const [left, ttl] of [
        [90_999, 90],
        [-5_000, 30],
        [7_200_000, 3600],
      ] as const) {
        await send(create(), { ...renderedMessage(), expires_at: deps().clock.now() + left })
        expect(vendor().messages.at(-1)?.ttl, `${left} ms`).to.equal(ttl)
      }
    })

    it('requests no receipts at an address that Telegram would not call', async () => {
      for (const callbackUrl of [
        null,
        'http://verify.example/callbacks/app_shop/gateway',
        `https://${'x'.repeat(249)}`,
      ]) {
        const provider = create({}, { callbackUrl })
        await send(provider)
        expect(vendor().messages.at(-1)).to.not.have.property('callback_url')
        expect(provider).to.not.have.property('parseCallback')
      }
    })
  })

  it('is paused by FLOOD_WAIT_n for n seconds, and by no other error', async () => {
    for (const [name, ms] of [
      ['FLOOD_WAIT_17', 17_000],
      ['FLOOD_WAIT_86400', 86_400_000],
      ['FLOOD_WAIT', null],
      ['TTL_INVALID', null],
    ] as const) {
      vendor().next({ fault: { kind: 'answers', answer: telegramError(name) } })
      expect(await thrownBy(send(create())), name).to.have.property('retryAfterMs', ms)
    }
  })

  itNamesVendorFaults({
    ...suite,
    createProvider: over => create({}, over),
    secrets: () => [vendor().token],
    refused: RecipientFault,
    parsesSuccess: true,
    refusals: REFUSALS,
    declared: { type: 'telegram_gateway', answerWith: telegramError },
  })
})

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
    signedHeaders: ['x-request-signature', 'x-request-timestamp'],
    forged: [report('read', { signedWith: 'another' })],
    sign: signed,
    malformed: [
      '{"delivery_status":{"status":"read"}}',
      '{"request_id":7,"delivery_status":{"status":"read"}}',
      '{"request_id":"r","delivery_status":"read"}',
      '{"request_id":"r","payload":{"a":1},"delivery_status":{"status":"read"}}',
      JSON.stringify({ request_id: 'r', payload: 'x'.repeat(10_000) }),
    ],
    failures: [
      [report('expired'), { reason: 'recipient_unreachable', vendorCode: 'expired', vendorText: null }],
      [report('revoked'), { reason: 'superseded', vendorCode: 'revoked', vendorText: null }],
    ],
  })

  it('name the request if they have no payload, and are ignored without a delivery status', () => {
    expect(parse(signed('{"request_id":"req_1","verification_status":{"status":"code_valid"}}'))).to.deep.equal([])
    for (const payload of [undefined, ''])
      expect(parse(report('sent', { payload }))).to.deep.equal([
        { kind: 'receipt', delivery_id: null, reference: 'req_1', status: 'sent' },
      ])
  })

  it('are signed as the documentation says', () => {
    // hex(HMAC_SHA256(timestamp + '\n' + body, SHA256(token))), computed with another program.
    const headers = {
      'x-request-timestamp': '1893456000',
      'x-request-signature': '8e8d0e297901baf3ce87b122a5b876aee92d1da0f9c9be005006796cb14debfd',
    }
    const body = Buffer.from('{"request_id":"req_1","delivery_status":{"status":"read"}}')
    const upper = headers['x-request-signature'].toUpperCase()
    for (const given of [headers, { ...headers, 'x-request-signature': upper }])
      expect(parse({ method: 'POST', url: new URL(CALLBACK_URL), headers: given, body })).to.have.lengthOf(1)
  })
})
