import { expect } from 'chai'
import {
  DestinationFault,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  type RenderedMessage,
  UnknownOutcome,
} from '../../../../services/channel/provider.ts'
import { createWhatsappProvider } from '../../../../services/channel/providers/whatsapp_cloud.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { itNamesVendorFaults, type Refusal } from '../../../support/vendors/fault-cases.ts'
import { type Meta, metaError, startMeta } from '../../../support/vendors/meta.ts'
import {
  CODE,
  DELIVERY_ID,
  RECIPIENT,
  renderedMessage,
  send,
  type TestProviderDeps,
  testProviderDeps,
  thrownBy,
} from '../../../support/vendors/provider-fixtures.ts'

type Config = ProviderConfigs['whatsapp_cloud']

const LANGUAGES = ['de', 'pt_BR', 'pt_PT', 'zh_TW', 'en_US']
const ALL_LANGUAGES = ['de', 'en', 'en_US', 'en_GB']

const refusals = (fault: Refusal[1], status: number, ...codes: unknown[]): Refusal[] =>
  codes.map(code => {
    // A code is quoted only if it could be one of Meta's: it is logged.
    const isQuoted = typeof code === 'number' && Number.isInteger(code) && code >= 0 && code < 1_000_000
    const answer = metaError(status, code as number, 'title')
    return [answer, fault, `it answered ${status}${isQuoted ? `, ${code}` : ''}`]
  })
const REFUSALS: Refusal[] = [
  ...refusals(RecipientFault, 400, 130472, 131021, 131026, 131062),
  ...refusals(DestinationFault, 400, 131030, 131047),
  ...refusals(DestinationFault, 403, 130497),
  ...refusals(ProviderFault, 200, 131000),
  ...refusals(ProviderFault, 400, 4, 33, 100, 80007, 130429, 131008, 131009, 131042, 131048, 131049),
  ...refusals(ProviderFault, 400, 131056, 132000, 132012, 132015, 133010, 999_999),
  ...refusals(ProviderFault, 401, 0, 190),
  ...refusals(ProviderFault, 403, 10, 200, 368, 131005, 131031),
  ...refusals(ProviderFault, 500, 1, 3, 131000, 131016, 131026),
  ...refusals(ProviderFault, 503, 2),
  ...refusals(ProviderFault, 400, 447700900123, -1, 1.5, '447700900123', { a: 1 }),
]

describe('the WhatsApp Cloud API', () => {
  let api: Meta
  let deps: TestProviderDeps

  before(async () => {
    deps = testProviderDeps()
    api = await startMeta({ templates: { shop_code: LANGUAGES, only_english: ['en'] } })
  })
  after(async () => {
    await deps.outbound.close()
    await api.close()
  })

  const createProvider = (more: Partial<Config> = {}, over: Partial<ProviderDeps> = {}): Provider => {
    const { phone_number_id, access_token, app_secret, verify_token } = api
    const config: Config = {
      phone_number_id,
      access_token,
      app_secret,
      verify_token,
      base_url: api.url,
      template: 'shop_code',
      template_language: null,
      api_version: 'v23.0',
      ...more,
    }
    return createWhatsappProvider({ config }, { ...deps, ...over })
  }
  const messageIn = (locale: string, text = 'en') => renderedMessage({ locale: text }, { locale })
  const languages = (from: number): unknown[] =>
    api.requests.slice(from).map(({ body }) => JSON.parse(body.toString()).template.language.code)

  describe('sending', () => {
    it('fills the code into the text and the button of an authentication template', async () => {
      const accepted = await send(createProvider({ template_language: 'en_US' }))
      const message = api.messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.id, httpStatus: 200 })
      expect(accepted.reference).to.match(/^wamid\./)
      const parameters = [{ type: 'text', text: CODE }]
      expect(message?.requestBody).to.deep.equal({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: RECIPIENT,
        type: 'template',
        template: {
          name: 'shop_code',
          language: { policy: 'deterministic', code: 'en_US' },
          components: [
            { type: 'body', parameters },
            { type: 'button', sub_type: 'url', index: '0', parameters },
          ],
        },
        biz_opaque_callback_data: DELIVERY_ID,
      })
    })

    it('calls the configured version and phone number', async () => {
      await send(createProvider({ api_version: 'v24.0' }))
      expect(api.requests.at(-1)?.path).to.equal(`/v24.0/${api.phone_number_id}/messages`)
      expect(api.requests.at(-1)?.headers.authorization).to.equal(`Bearer ${api.access_token}`)
      const requestsBefore = api.requests.length
      await thrownBy(send(createProvider({ phone_number_id: '../../me?x=' })))
      expect(api.requests[requestsBefore]?.path).to.equal('/v23.0/..%2F..%2Fme%3Fx%3D/messages')
    })

    it('names the program and its version', async () => {
      await send(createProvider())
      expect(api.requests.at(-1)?.headers['user-agent']).to.match(/^Countersign\/\d+\.\d+\.\d+$/)
    })

    const sendAndAnswer = (body: object) => {
      api.next({ fault: { kind: 'answers', answer: { status: 200, body } } })
      return send(createProvider({ template_language: 'en_US' }))
    }

    it('takes the first message of an answer with several, or with more that is not understood', async () => {
      for (const messages of [
        [{ id: 'wamid.one', message_status: 'accepted' }, { id: 'wamid.two' }],
        [{ id: 'wamid.one' }, { nothing: true }, null],
      ])
        expect(await sendAndAnswer({ messaging_product: 'whatsapp', messages })).to.deep.equal({
          reference: 'wamid.one',
          httpStatus: 200,
        })
    })

    it('does not know the outcome of an answer without a message', async () => {
      for (const body of [{}, { messages: [] }, { messages: [{}] }, { messages: {} }])
        expect(await thrownBy(sendAndAnswer(body))).to.be.instanceOf(UnknownOutcome)
    })

    it('makes no call without a configured template', async () => {
      const requestsBefore = api.requests.length
      const fault = await thrownBy(send(createProvider({ template: null })))
      expect(fault).to.be.instanceOf(ProviderFault)
      expect([fault.message, api.requests.length]).to.deep.equal(['it has no template configured', requestsBefore])
    })
  })

  describe('the language of a template', () => {
    for (const [locale, language] of [
      ['de', 'de'],
      ['de-AT', 'de'],
      ['pt-BR', 'pt_BR'],
      ['pt-AO', 'pt_BR'],
      ['zh-Hant-TW', 'zh_TW'],
      ['en-US', 'en_US'],
      ['en', 'en_US'],
    ] as const)
      it(`follows the verification's locale: ${language} for ${locale}`, async () => {
        await send(createProvider(), messageIn(locale))
        expect(api.messages.at(-1)?.requestBody).to.nested.include({ 'template.language.code': language })
      })

    it('is the configured one, if the config names one', async () => {
      await send(createProvider({ template_language: 'pt_PT' }), messageIn('de'))
      expect(api.messages.at(-1)?.requestBody).to.nested.include({ 'template.language.code': 'pt_PT' })
      expect(await thrownBy(send(createProvider({ template_language: 'fr' }), messageIn('de')))).to.be.instanceOf(
        ProviderFault,
      )
    })

    it('is the next best when a translation is missing, which is remembered for ten minutes', async () => {
      const provider = createProvider()
      const from = api.requests.length
      await send(provider, messageIn('fr-CA', 'de'))
      await send(provider, messageIn('fr-CA', 'de'))
      expect(languages(from)).to.deep.equal(['fr', 'de', 'de'])
      await deps.clock.advance(601_000)
      await send(provider, messageIn('fr-CA', 'de'))
      expect(languages(from).slice(3)).to.deep.equal(['fr', 'de'])
    })

    it('is English when nothing else fits', async () => {
      const provider = createProvider({ template: 'only_english' })
      const from = api.requests.length
      await send(provider, messageIn('tlh', 'tlh'))
      await send(provider, messageIn('not a locale', '!'))
      expect(languages(from)).to.deep.equal(['en', 'en'])
    })

    it("does not matter for an unknown template: the provider's fault, found out again with a single call", async () => {
      const provider = createProvider({ template: 'no_such' })
      const from = api.requests.length
      for (let nth = 0; nth < 2; nth += 1) {
        const fault = await thrownBy(send(provider, messageIn('de')))
        expect(fault).to.be.instanceOf(ProviderFault)
        expect(fault.message).to.equal('it answered 404, 132001')
      }
      expect(languages(from)).to.deep.equal([...ALL_LANGUAGES, 'de'])
    })
  })

  describe('a reply', () => {
    const reply = async (provider: Provider, message: Partial<RenderedMessage> = {}) =>
      provider.reply?.(renderedMessage(message), new AbortController().signal)

    it('is a text without a preview', async () => {
      const text = { recipient: '447700900123', text: 'Done. https://x' }
      const accepted = await reply(createProvider({ template: null }), text)
      const message = api.messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.id, httpStatus: 200 })
      expect(message?.requestBody).to.deep.equal({
        messaging_product: 'whatsapp',
        recipient_type: 'individual',
        to: RECIPIENT,
        type: 'text',
        text: { preview_url: false, body: 'Done. https://x' },
        biz_opaque_callback_data: DELIVERY_ID,
      })
    })

    it('has the same faults as sending', async () => {
      api.next({ fault: { kind: 'refused' } }, { fault: { kind: 'busy', retryAfter: '5' } })
      expect(await thrownBy(reply(createProvider()))).to.be.instanceOf(RecipientFault)
      expect(await thrownBy(reply(createProvider())))
        .to.be.instanceOf(ProviderFault)
        .and.to.have.property('retryAfterMs', 5_000)
    })
  })

  itNamesVendorFaults({
    vendor: () => api,
    deps: () => deps,
    createProvider: over => createProvider({ template_language: 'en_US' }, over),
    secrets: () => [api.access_token, api.app_secret],
    refused: RecipientFault,
    parsesSuccess: true,
    refusals: REFUSALS,
  })
})
