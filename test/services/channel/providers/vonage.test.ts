import { Buffer } from 'node:buffer'
import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import {
  DestinationFault,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
} from '../../../../services/channel/provider.ts'
import { createVonageProvider } from '../../../../services/channel/providers/vonage.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { itNamesVendorFaults } from '../../../support/vendors/fault-cases.ts'
import {
  CALLBACK_URL,
  DELIVERY_ID,
  renderedMessage,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'
import { startVendor } from '../../../support/vendors/vendor.ts'
import { startVonage, type Vonage, vonageError } from '../../../support/vendors/vonage.ts'

const MINUTE = 60_000

describe('Vonage', () => {
  let api: Vonage
  let deps: TestProviderDeps

  before(async () => {
    deps = testProviderDeps()
    api = await startVonage({ now: () => deps.clock.now() })
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })

  const config = (more: Partial<ProviderConfigs['vonage']> = {}): ProviderConfigs['vonage'] => ({
    application_id: api.application_id,
    private_key: api.private_key,
    signature_secret: api.signature_secret,
    from: 'Shop',
    base_url: api.url,
    ...more,
  })
  const createProvider = (more: Partial<ProviderConfigs['vonage']> = {}, over: Partial<ProviderDeps> = {}): Provider =>
    createVonageProvider({ config: config(more) }, { ...deps, ...over })

  describe('sending', () => {
    it('posts a text message and returns its UUID', async () => {
      const accepted = await send(createProvider())
      const message = api.messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.message_uuid, httpStatus: 202 })
      expect(message?.requestBody).to.deep.equal({
        channel: 'sms',
        message_type: 'text',
        to: '447700900123',
        from: 'Shop',
        text: 'Shop: your code is 739164.',
        client_ref: DELIVERY_ID,
        webhook_url: CALLBACK_URL,
        webhook_version: 'v1',
      })
    })

    it('requests no receipts without an address for them, or without a secret to check them with', async () => {
      for (const provider of [createProvider({}, { callbackUrl: null }), createProvider({ signature_secret: null })]) {
        await send(provider)
        expect(api.messages.at(-1)?.requestBody).not.to.have.any.keys('webhook_url', 'webhook_version')
        expect(provider).not.to.have.property('parseCallback')
      }
    })

    it('sends the sender’s number without its plus', async () => {
      await send(createProvider({ from: '+447700900001' }))
      expect(api.messages.at(-1)?.requestBody.from).to.equal('447700900001')
    })

    it('leaves the encoding of a text to Vonage', async () => {
      const text = 'Ваш код 739164 "日本" 😀\n@shop.example #739164'
      await send(createProvider(), renderedMessage({ text }))
      expect(api.messages.at(-1)?.requestBody).to.include({ text }).and.not.to.have.property('sms')
    })

    it('signs a new token every ten minutes, with the application, its start and its end', async () => {
      const provider = createProvider()
      const tokens: string[] = []
      for (const wait of [0, 9 * MINUTE, MINUTE, 0, 24 * 60 * MINUTE]) {
        await deps.clock.advance(wait)
        await send(provider) // the simulated vendor checks the token
        tokens.push(api.requests.at(-1)?.headers.authorization ?? '')
      }
      const names = ['first', 'first', 'second', 'second', 'third']
      const distinct = [...new Set(tokens)]
      expect(tokens.map(token => ['first', 'second', 'third'][distinct.indexOf(token)])).to.deep.equal(names)
      const claims = distinct.map(token => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()))
      for (const claim of claims) {
        expect(claim).to.have.all.keys('application_id', 'jti', 'iat', 'exp')
        expect(claim.exp - claim.iat).to.equal(15 * 60)
      }
      expect(new Set(claims.map(claim => claim.jti))).to.have.property('size', 3)
    })

    it('signs a new token when the clock was set back', async () => {
      let now = deps.clock.now()
      const provider = createProvider({}, { clock: { ...deps.clock, now: () => now } })
      await send(provider)
      now -= 24 * 60 * MINUTE
      const fault = await thrownBy(send(provider)) // by the vendor's clock the new token has expired
      expect(fault).to.have.property('message', 'it answered 401, unauthorized')
    })

    it("takes a wrong key, no key or a key other than RSA for the provider's fault, when it sends", async () => {
      const pem = (key: ReturnType<typeof generateKeyPairSync>['privateKey']) =>
        key.export({ type: 'pkcs8', format: 'pem' }).toString()
      const another = pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey)
      const curve = pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
      for (const [private_key, message] of [
        [another, 'it answered 401, unauthorized'],
        [curve, 'its private key is not an RSA key'],
        ['-----BEGIN PRIVATE KEY-----\nhello\n-----END PRIVATE KEY-----', 'its private key cannot be read'],
        ['hello', 'its private key cannot be read'],
      ] as const) {
        const fault = await thrownBy(send(createProvider({ private_key })))
        expect(fault).to.be.instanceOf(ProviderFault).and.to.have.property('message', message)
        expect(fault.cause).to.equal(undefined)
      }
    })

    for (const code of ['1050', '1170', '1190', '1240', '1430'])
      it(`takes ${code} for the recipient's fault`, async () => {
        expect(await thrownBy(sendAndAnswer(422, `/messages#${code}`))).to.be.instanceOf(RecipientFault)
      })

    // From Vonage's list "API errors, Messages API": Non White-listed Destination, Unroutable.
    for (const code of ['1160', '1250'])
      it(`takes ${code} for a destination that another provider may reach`, async () => {
        expect(await thrownBy(sendAndAnswer(422, `/messages#${code}`))).to.be.instanceOf(DestinationFault)
      })

    for (const [status, type] of [
      [401, '#unauthorized'],
      [402, '#low-balance'],
      [403, '#forbidden'],
      [404, '#not-found'],
      [422, '#invalid-json'],
      [422, '/messages#1020'],
      [422, '/messages#1040'],
      [422, '/messages#1120'],
      [422, '/messages#1420'],
      [429, '/messages#1000'],
      [500, '/messages#1170'],
      [422, '/messages#11700'],
      [422, '/messages'],
      [422, '#'],
      [422, `/messages#1170${' '.repeat(500)}`],
    ] as [number, string][])
      it(`takes ${status} with ${type.trim()} for the provider's fault`, async () => {
        expect(await thrownBy(sendAndAnswer(status, type))).to.be.instanceOf(ProviderFault)
      })

    it('quotes nothing of a refusal but its code', async () => {
      const { message } = await thrownBy(sendAndAnswer(422, '?to=447700900123&#1020'))
      expect(message).to.equal('it answered 422, 1020')
      expect((await thrownBy(sendAndAnswer(422, '/messages#447700900123'))).message).to.equal('it answered 422')
    })

    /** Sends to a vendor that gives this answer to every request. */
    async function sendAndAnswer(status: number, type: string): Promise<unknown> {
      const answer = vonageError(status, type, 'to: 447700900123')
      const refusing = await startVendor<never>({
        handleRequest: () => ({ answer }),
        refused: () => answer,
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
    secrets: () => [
      api.signature_secret,
      'PRIVATE KEY',
      api.requests.at(-1)?.headers.authorization?.slice(7) ?? 'none',
    ],
  })
})
