import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import {
  type Callback,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
} from '../../../../services/channel/provider.ts'
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
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'
import {
  startTelegram,
  type Telegram,
  telegramError,
  telegramReceipt,
  telegramSignatureHeaders,
} from '../../../support/vendors/telegram.ts'
import type { Answer } from '../../../support/vendors/vendor.ts'

const UNREACHABLE = ['PHONE_NUMBER_INVALID', 'PHONE_NUMBER_NOT_FOUND', 'PHONE_NUMBER_NOT_AVAILABLE']
const ACCOUNT = [
  'ACCESS_TOKEN_INVALID',
  'ACCESS_TOKEN_REQUIRED',
  'CODE_INVALID',
  'CALLBACK_URL_INVALID',
  'SOMETHING_NEW',
]

/** An error is quoted by its name only, if that looks like a name, and without numbers. */
const REFUSALS: Refusal[] = [
  ...[200, 400].flatMap(status =>
    UNREACHABLE.map(name => [telegramError(name, status), RecipientFault, `it answered ${name}`] as const),
  ),
  ...ACCOUNT.map(name => [telegramError(name), ProviderFault, `it answered 200, ${name}`] as const),
  [telegramError('BALANCE_NOT_ENOUGH', 402), ProviderFault, 'it answered 402, BALANCE_NOT_ENOUGH'],
  [telegramError('FLOOD_WAIT'), ProviderFault, 'it answered 200, FLOOD_WAIT'],
  [telegramError('MESSAGE_ALREADY_SENT'), UnknownOutcome, 'it answered MESSAGE_ALREADY_SENT'],
  [telegramError(`X_${CODE}`), ProviderFault, 'it answered 200, X_n'],
  ...['not a name', '', '__proto__', `no ${RECIPIENT} ${CODE}`].map(
    name => [telegramError(name), ProviderFault, 'it answered 200'] as const,
  ),
]

describe('the Telegram Gateway', () => {
  let api: Telegram
  let deps: TestProviderDeps

  before(async () => {
    deps = testProviderDeps()
    api = await startTelegram({ now: deps.clock.now })
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })

  const createProvider = (
    over: Partial<ProviderDeps> = {},
    more: { token?: string; base_url?: string } = {},
  ): Provider =>
    createTelegramProvider({ config: { token: api.token, base_url: api.url, ...more } }, { ...deps, ...over })

  describe('sending', () => {
    it('posts the code, its time to live and the delivery id; returns the id of the request', async () => {
      const accepted = await send(createProvider())
      const message = api.messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.request_id, httpStatus: 200 })
      expect(message).to.deep.include({ phone_number: RECIPIENT, code: CODE, ttl: 600, payload: DELIVERY_ID })
      expect(message?.callback_url).to.equal(CALLBACK_URL)
    })

    it('makes one call only, because a check before it would be charged', async () => {
      const requestsBefore = api.requests.length
      await send(createProvider())
      expect(api.requests.slice(requestsBefore).map(({ path }) => path)).to.deep.equal(['/sendVerificationMessage'])
    })

    for (const [left, ttl] of [
      [600_000, 600],
      [90_999, 90],
      [1_000, 30],
      [-5_000, 30],
      [7_200_000, 3600],
    ] as const)
      it(`gives the message the code's time to live, within Telegram's limits: ${left} ms left, ${ttl} s`, async () => {
        const message = renderedMessage()
        message.expires_at = deps.clock.now() + left
        await send(createProvider(), message)
        expect(api.messages.at(-1)?.ttl).to.equal(ttl)
      })

    for (const callbackUrl of [null, 'http://verify.example/callbacks/app_shop/gateway', `https://${'x'.repeat(249)}`])
      it(`requests no receipts at an address that Telegram would not call: ${callbackUrl?.slice(0, 20)}`, async () => {
        const provider = createProvider({ callbackUrl })
        await send(provider)
        expect(api.messages.at(-1)).to.not.have.property('callback_url')
        expect(provider).to.not.have.property('parseCallback')
      })
  })

  describe('an error', () => {
    const faultAfter = async (answer: Answer): Promise<Error> => {
      api.next({ fault: { kind: 'answers', answer } })
      return thrownBy(send(createProvider()))
    }

    it('FLOOD_WAIT_n pauses the provider for n seconds, and no other error pauses it', async () => {
      expect(await faultAfter(telegramError('FLOOD_WAIT_17'))).to.have.property('retryAfterMs', 17_000)
      expect(await faultAfter(telegramError('FLOOD_WAIT_86400', 429))).to.have.property('retryAfterMs', 86_400_000)
      for (const name of ['FLOOD_WAIT', 'TTL_INVALID'])
        expect(await faultAfter(telegramError(name))).to.have.property('retryAfterMs', null)
    })

    it('for a wrong token is the provider’s fault', async () => {
      expect(await thrownBy(send(createProvider({}, { token: 'another' })))).to.be.instanceOf(ProviderFault)
    })
  })

  itNamesVendorFaults({
    vendor: () => api,
    deps: () => deps,
    createProvider,
    secrets: () => [api.token],
    refused: RecipientFault,
    parsesSuccess: true,
    refusals: REFUSALS,
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

  it('are accepted with a signature in upper case', () => {
    const { headers, ...rest } = report('read')
    const signature = headers['x-request-signature']?.toUpperCase()
    expect(parse({ ...rest, headers: { ...headers, 'x-request-signature': signature } })).to.have.lengthOf(1)
  })
})
