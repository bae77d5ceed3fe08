import { expect } from 'chai'
import {
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
} from '../../../../services/channel/provider.ts'
import { createTelegramProvider } from '../../../../services/channel/providers/telegram_gateway.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
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
import { startTelegram, type Telegram, telegramError, telegramReceipt } from '../../../support/vendors/telegram.ts'
import { type Answer, startVendor } from '../../../support/vendors/vendor.ts'

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

    it('parses the receipt of a message it sent', async () => {
      const provider = createProvider()
      await send(provider)
      const message = api.messages.at(-1)
      const report = message && telegramReceipt(message, 'delivered', { token: api.token, now: deps.clock.now() })
      expect(report && provider.parseCallback?.(callbackOf(report), deps.clock.now())).to.deep.equal([
        { kind: 'receipt', delivery_id: DELIVERY_ID, reference: message?.request_id, status: 'delivered' },
      ])
    })
  })

  describe('an error', () => {
    const faultAfter = async (answer: Answer): Promise<Error> => {
      const vendor = await startVendor({
        handleRequest: () => ({ answer }),
        refused: () => answer,
        receipt: () => null,
      })
      const fault = await thrownBy(send(createProvider({}, { base_url: vendor.url })))
      await vendor.close()
      return fault
    }

    for (const name of ['PHONE_NUMBER_INVALID', 'PHONE_NUMBER_NOT_FOUND', 'PHONE_NUMBER_NOT_AVAILABLE'])
      it(`${name} is the recipient's fault`, async () => {
        for (const status of [200, 400])
          expect(await faultAfter(telegramError(name, status))).to.be.instanceOf(RecipientFault)
      })

    for (const name of [
      'ACCESS_TOKEN_INVALID',
      'ACCESS_TOKEN_REQUIRED',
      'BALANCE_NOT_ENOUGH',
      'TTL_INVALID',
      'CODE_INVALID',
      'CALLBACK_URL_INVALID',
      'FLOOD_WAIT',
      'UNKNOWN_METHOD',
      'SOMETHING_NEW',
      'not a name',
      '',
      '__proto__',
    ])
      it(`${JSON.stringify(name)} is the provider's fault`, async () => {
        const fault = await faultAfter(telegramError(name))
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('retryAfterMs', null)
      })

    it('FLOOD_WAIT_n pauses the provider for n seconds', async () => {
      expect(await faultAfter(telegramError('FLOOD_WAIT_17'))).to.have.property('retryAfterMs', 17_000)
      expect(await faultAfter(telegramError('FLOOD_WAIT_86400', 429))).to.have.property('retryAfterMs', 86_400_000)
    })

    it('MESSAGE_ALREADY_SENT is an unknown outcome', async () => {
      expect(await faultAfter(telegramError('MESSAGE_ALREADY_SENT'))).to.be.instanceOf(UnknownOutcome)
    })

    it('for a wrong token is the provider’s fault', async () => {
      expect(await thrownBy(send(createProvider({}, { token: 'another' })))).to.be.instanceOf(ProviderFault)
    })

    it('is quoted by its name only, and only if that looks like a name', async () => {
      expect((await faultAfter(telegramError('BALANCE_NOT_ENOUGH', 402))).message).to.equal(
        'it answered 402, BALANCE_NOT_ENOUGH',
      )
      expect((await faultAfter(telegramError(`X_${CODE}`))).message).to.equal('it answered 200, X_n')
      expect((await faultAfter(telegramError(`no ${RECIPIENT} ${CODE}`))).message).to.equal('it answered 200')
    })
  })

  itNamesVendorFaults({
    vendor: () => api,
    deps: () => deps,
    createProvider,
    secrets: () => [api.token],
    refused: RecipientFault,
    parsesSuccess: true,
  })
})
