import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import {
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
} from '../../../../services/channel/provider.ts'
import { createTwilioProvider } from '../../../../services/channel/providers/twilio.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
import {
  CALLBACK_URL,
  DELIVERY_ID,
  RECIPIENT,
  renderedMessage,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { startTwilio, type Twilio, twilioError } from '../../../support/vendors/twilio.ts'
import { startVendor } from '../../../support/vendors/vendor.ts'

describe('Twilio', () => {
  let api: Twilio
  let deps: TestProviderDeps

  before(async () => {
    api = await startTwilio()
    deps = testProviderDeps()
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })

  const config = (more: Partial<ProviderConfigs['twilio']> = {}): ProviderConfigs['twilio'] => ({
    account_sid: api.account_sid,
    auth_token: api.auth_token,
    base_url: api.url,
    from: '+15005550006',
    messaging_service_sid: null,
    ...more,
  })
  const createProvider = (more: Partial<ProviderConfigs['twilio']> = {}, over: Partial<ProviderDeps> = {}): Provider =>
    createTwilioProvider({ config: config(more) }, { ...deps, ...over })

  describe('sending', () => {
    it('posts the form of a Message resource and returns its SID', async () => {
      const accepted = await send(createProvider())
      const message = api.messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.sid, httpStatus: 201 })
      expect(message?.sid).to.match(/^SM[0-9a-f]{32}$/)
      expect(message?.form).to.deep.equal({
        To: RECIPIENT,
        From: '+15005550006',
        Body: 'Shop: your code is 739164.',
        ValidityPeriod: '600',
        StatusCallback: `${CALLBACK_URL}?delivery_id=${DELIVERY_ID}`,
      })
    })

    it('names a messaging service, with or without a sender', async () => {
      await send(createProvider({ from: null, messaging_service_sid: 'MG1' }))
      expect(api.messages.at(-1)?.form).to.include({ MessagingServiceSid: 'MG1' }).and.not.to.have.property('From')
      await send(createProvider({ messaging_service_sid: 'MG1' }))
      expect(api.messages.at(-1)?.form).to.include({ MessagingServiceSid: 'MG1', From: '+15005550006' })
    })

    it('requests no receipts without an address for them', async () => {
      const provider = createProvider({}, { callbackUrl: null })
      await send(provider)
      expect(api.messages.at(-1)?.form).not.to.have.property('StatusCallback')
      expect(provider).not.to.have.property('parseCallback')
    })

    it('sends a text in any script unchanged', async () => {
      const text = 'Ваш код 739164 & +1 = "日本" 😀\n@shop.example #739164'
      await send(createProvider(), renderedMessage({ text }))
      expect(api.messages.at(-1)?.form.Body).to.equal(text)
    })

    it("gives the message the code's time to live, within Twilio's limits", async () => {
      const validity = async (ttl_ms: number) => {
        await send(createProvider(), renderedMessage({}, { rules: { ttl_ms } }))
        return api.messages.at(-1)?.form.ValidityPeriod
      }
      expect(await validity(60_000)).to.equal('60')
      expect(await validity(61_001)).to.equal('62')
      expect(await validity(1)).to.equal('6')
      expect(await validity(90_000_000)).to.equal('36000')
    })

    it('escapes an account id that looks like a path', async () => {
      expect(await thrownBy(send(createProvider({ account_sid: '../../x?y' })))).to.be.instanceOf(ProviderFault)
      expect(api.requests.at(-1)?.path).to.equal('/2010-04-01/Accounts/..%2F..%2Fx%3Fy/Messages.json')
    })

    it("takes wrong credentials for the provider's fault", async () => {
      const fault = await thrownBy(send(createProvider({ auth_token: 'another' })))
      expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('message', 'it answered 401, 20003')
    })

    for (const code of [21211, 21214, 21217, 21265, 21268, 21610, 21614, 21635])
      it(`takes ${code} for the recipient's fault`, async () => {
        expect(await thrownBy(sendAndAnswer(400, code))).to.be.instanceOf(RecipientFault)
      })

    for (const [status, code] of [
      [400, 21408],
      [400, 21606],
      [400, 21608],
      [400, 21612],
      [400, 21659],
      [400, 21266],
      [400, 21617],
      [401, 20003],
      [403, 20403],
      [404, 20404],
      [429, 20429],
      [400, 63038],
      [500, 21211],
      [503, 20503],
    ] as [number, number][])
      it(`takes ${status} with ${code} for the provider's fault`, async () => {
        expect(await thrownBy(sendAndAnswer(status, code))).to.be.instanceOf(ProviderFault)
      })

    it("takes a refusal that cannot be parsed for the provider's fault", async () => {
      for (const code of ['21211', Number.NaN, null, [21211], '1e400'])
        expect(await thrownBy(sendAndAnswer(400, code as number))).to.be.instanceOf(ProviderFault)
    })

    it('quotes nothing of a refusal but its code', async () => {
      expect((await thrownBy(sendAndAnswer(400, 447700900123))).message).to.equal('it answered 400')
    })

    /** Sends to a vendor that gives this answer to every request. */
    async function sendAndAnswer(status: number, code: number): Promise<unknown> {
      const refusing = await startVendor<never>({
        handleRequest: () => ({ answer: twilioError(status, code, `The 'To' number ${RECIPIENT} …`) }),
        refused: () => ({ status }),
        receipt: () => null,
      })
      return send(createProvider({ base_url: refusing.url })).finally(() => refusing.close())
    }
  })

  itNamesVendorFaults({
    vendor: () => api,
    deps: () => deps,
    refused: RecipientFault,
    parsesSuccess: true,
    createProvider: over => createProvider({}, over),
    secrets: () => [api.auth_token, Buffer.from(`${api.account_sid}:${api.auth_token}`).toString('base64')],
  })
})
