import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import {
  BadCallback,
  BadSignature,
  type Callback,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
} from '../../../../services/channel/provider.ts'
import { metaLanguages } from '../../../../services/channel/providers/whatsapp_cloud.languages.ts'
import { createWhatsappProvider } from '../../../../services/channel/providers/whatsapp_cloud.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { LANGUAGES } from '../../../../services/domain/texts/message-text.ts'
import { itNamesVendorFaults, type Refusal } from '../../../support/vendors/fault-cases.ts'
import {
  metaCall,
  metaError,
  metaNotice,
  metaSignatureHeaders,
  metaStatus,
  metaText,
  startMeta,
} from '../../../support/vendors/meta.ts'
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

const TRANSLATIONS = ['de', 'pt_BR', 'pt_PT', 'zh_TW', 'en_US']
const ALL_LANGUAGES = ['de', 'en', 'en_US', 'en_GB']

const answerWith = (code: unknown, status = 400) => metaError(status, code as number, 'title')

/** A code is quoted only if it could be one of Meta's: it is logged. */
const REFUSALS = [
  ...(
    [
      [200, 131000],
      [400, 999_999],
      [401, 0],
      [403, 10],
      [500, 131026],
    ] as const
  ).map(([status, code]) => [answerWith(code, status), ProviderFault, `it answered ${status}, ${code}`]),
  ...[447700900123, -1, 1.5, '447700900123', { a: 1 }].map(code => [
    answerWith(code),
    ProviderFault,
    'it answered 400',
  ]),
] as unknown as Refusal[]

describe('the WhatsApp Cloud API', () => {
  const suite = withVendor(
    createWhatsappProvider,
    () => startMeta({ templates: { shop_code: TRANSLATIONS, only_english: ['en'] } }),
    ({ phone_number_id, access_token, app_secret, verify_token, url }): ProviderConfigs['whatsapp_cloud'] => ({
      phone_number_id,
      access_token,
      app_secret,
      verify_token,
      base_url: url,
      template: 'shop_code',
      template_language: null,
      api_version: 'v23.0',
    }),
  )
  const { create: createProvider, vendor, deps } = suite
  const lastBody = () => vendor().messages.at(-1)?.requestBody
  const messageIn = (locale: string, text = 'en') => renderedMessage({ locale: text }, { locale })
  const languages = (from: number): unknown[] =>
    vendor()
      .requests.slice(from)
      .map(({ body }) => JSON.parse(body.toString()).template.language.code)

  describe('sending', () => {
    it('fills the code into the text and the button of an authentication template', async () => {
      const accepted = await send(createProvider({ template_language: 'en_US' }))
      const message = vendor().messages.at(-1)
      expect(accepted).to.deep.equal({ reference: message?.id, httpStatus: 200 })
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
      expect(vendor().requests.at(-1)?.path).to.equal(`/v24.0/${vendor().phone_number_id}/messages`)
      expect(vendor().requests.at(-1)?.headers.authorization).to.equal(`Bearer ${vendor().access_token}`)
      const requestsBefore = vendor().requests.length
      await thrownBy(send(createProvider({ phone_number_id: '../../me?x=' })))
      expect(vendor().requests[requestsBefore]?.path).to.equal('/v23.0/..%2F..%2Fme%3Fx%3D/messages')
    })

    const sendAndAnswer = (body: object) => {
      vendor().next({ fault: { kind: 'answers', answer: { status: 200, body } } })
      return send(createProvider({ template_language: 'en_US' }))
    }

    it('takes the first message of an answer, and does not know the outcome of one without a message', async () => {
      const messages = [{ id: 'wamid.one', message_status: 'accepted' }, { nothing: true }, null]
      expect(await sendAndAnswer({ messages })).to.deep.equal({ reference: 'wamid.one', httpStatus: 200 })
      for (const body of [{}, { messages: [] }, { messages: [{}] }, { messages: {} }])
        expect(await thrownBy(sendAndAnswer(body))).to.be.instanceOf(UnknownOutcome)
    })

    it('makes no call without a configured template', async () => {
      const requestsBefore = vendor().requests.length
      const fault = await thrownBy(send(createProvider({ template: null })))
      expect(fault).to.be.instanceOf(ProviderFault)
      expect([fault.message, vendor().requests.length]).to.deep.equal(['it has no template configured', requestsBefore])
    })
  })

  describe('the language of a template', () => {
    it("follows the verification's locale", async () => {
      for (const [locale, language] of [
        ['de-AT', 'de'],
        ['pt-AO', 'pt_BR'],
        ['zh-Hant-TW', 'zh_TW'],
        ['en', 'en_US'],
      ] as const) {
        await send(createProvider(), messageIn(locale))
        expect(lastBody()).to.nested.include({ 'template.language.code': language })
      }
    })

    it('is the configured one, if the config names one', async () => {
      await send(createProvider({ template_language: 'pt_PT' }), messageIn('de'))
      expect(lastBody()).to.nested.include({ 'template.language.code': 'pt_PT' })
      expect(await thrownBy(send(createProvider({ template_language: 'fr' }), messageIn('de')))).to.be.instanceOf(
        ProviderFault,
      )
    })

    it('is the next best when a translation is missing, which is remembered for ten minutes', async () => {
      const provider = createProvider()
      const from = vendor().requests.length
      await send(provider, messageIn('fr-CA', 'de'))
      await send(provider, messageIn('fr-CA', 'de'))
      expect(languages(from)).to.deep.equal(['fr', 'de', 'de'])
      await deps().clock.advance(601_000)
      await send(provider, messageIn('fr-CA', 'de'))
      expect(languages(from).slice(3)).to.deep.equal(['fr', 'de'])
    })

    it("does not matter for an unknown template: the provider's fault, found out again with a single call", async () => {
      const provider = createProvider({ template: 'no_such' })
      const from = vendor().requests.length
      for (let nth = 0; nth < 2; nth += 1) {
        const fault = await thrownBy(send(provider, messageIn('de')))
        expect(fault).to.be.instanceOf(ProviderFault)
        expect(fault.message).to.equal('it answered 404, 132001')
      }
      expect(languages(from)).to.deep.equal([...ALL_LANGUAGES, 'de'])
    })
  })

  describe('a reply', () => {
    it('is a text without a preview', async () => {
      const text = { recipient: '447700900123', text: 'Done. https://x' }
      const { signal } = new AbortController()
      const accepted = await createProvider({ template: null }).reply?.(renderedMessage(text), signal)
      const message = vendor().messages.at(-1)
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
  })

  itNamesVendorFaults({
    ...suite,
    declared: { type: 'whatsapp_cloud', answerWith: code => answerWith(Number(code)) },
    createProvider: over => createProvider({ template_language: 'en_US' }, over),
    secrets: () => [vendor().access_token, vendor().app_secret],
    refused: RecipientFault,
    parsesSuccess: true,
    refusals: REFUSALS,
  })
})

const APP = { phone_number_id: '106540352242922', app_secret: '0123456789abcdef0123456789abcdef' }

const createReceiver = (more: Partial<ProviderConfigs['whatsapp_cloud']> = {}) =>
  createWhatsappProvider(
    {
      config: {
        ...APP,
        access_token: 'EAAJB',
        verify_token: 'a verify token',
        template: null,
        template_language: null,
        api_version: 'v23.0',
        base_url: 'https://graph.facebook.com',
        ...more,
      },
    },
    testProviderDeps(),
  )
const provider = createReceiver()

const parse = (callback: Callback) => provider.parseCallback?.(callback, 0)
const noticeCallback = (...values: object[]): Callback =>
  callbackOf(metaCall(CALLBACK_URL, metaNotice(values, APP), APP))
const signed = (body: string | Uint8Array): Callback => ({
  method: 'POST',
  url: new URL(CALLBACK_URL),
  headers: metaSignatureHeaders(body, APP.app_secret),
  body: Buffer.from(body),
})

describe("Meta's receipts", () => {
  itTakesReceipts({
    parse,
    receipt: word => noticeCallback({ statuses: [metaStatus('wamid.1', word, DELIVERY_ID)] }),
    reference: 'wamid.1',
    statuses: { sent: 'sent', delivered: 'delivered', read: 'delivered', played: 'delivered', failed: 'failed' },
    ignored: ['deleted', 'warning'],
    signedHeaders: ['x-hub-signature-256'],
    forged: [{ ...signed('{}'), headers: metaSignatureHeaders('{}', 'another') }],
    sign: signed,
    malformed: [
      '{"object":"whatsapp_business_account"}',
      '{"object":"whatsapp_business_account","entry":{"0":1}}',
      '{"object":"whatsapp_business_account","entry":[{"changes":7}]}',
    ],
    failures: (
      [
        [130472, 'recipient_unreachable'],
        [131026, 'recipient_unreachable'],
        [131042, 'provider_failed'],
        [132001, 'provider_failed'],
      ] as const
    ).map(([code, reason]) => {
      const error = { code, title: 'Sorry', message: 'Sorry', error_data: { details: 'No' } }
      return [
        noticeCallback({ statuses: [{ id: 'wamid.1', status: 'failed', errors: [error] }] }),
        { reason, vendorCode: String(code), vendorText: 'Sorry. No' },
      ]
    }),
  })

  it('count although their errors are not understood', () => {
    for (const errors of [undefined, 'odd', [], [null], [{ code: 'x' }]]) {
      const [item] = parse(noticeCallback({ statuses: [{ id: 'wamid.1', status: 'failed', errors }] })) ?? []
      const failure = { reason: 'provider_failed', vendorCode: null, vendorText: null }
      expect(item, JSON.stringify(errors)).to.deep.include({ failure })
    }
  })

  it('name the wamid if they have no delivery id', () => {
    expect(parse(noticeCallback({ statuses: [metaStatus('wamid.1', 'read')] }))).to.deep.equal([
      { kind: 'receipt', delivery_id: null, reference: 'wamid.1', status: 'delivered' },
    ])
  })

  it('of another phone number of the same Meta app are ignored', () => {
    const body = metaNotice([{ statuses: [metaStatus('wamid.1', 'read', DELIVERY_ID)] }], { phone_number_id: '999' })
    expect(parse(callbackOf(metaCall(CALLBACK_URL, body, APP)))).to.deep.equal([])
  })

  it('are parsed even if other items of the batch cannot be parsed', () => {
    const malformed = [null, 7, 'x', [], {}, { id: 7, status: 'read' }, { id: '', status: 'read' }, { id: 'wamid.0' }]
    const payload = { id: 'wamid.4', status: 'read', biz_opaque_callback_data: { $ne: null } }
    const values = [
      { statuses: [...malformed, payload, metaStatus('wamid.1', 'read')] },
      { messages: [metaText('447700900123', 'hello', 'wamid.3')] },
    ]
    expect(parse(noticeCallback(...values))?.map(({ kind }) => kind)).to.deep.equal(['receipt', 'message'])
  })
})

describe("Meta's messages", () => {
  const parseMessage = (message: object) => parse(noticeCallback({ messages: [message] }))

  it('contain the text of a user, in any script', () => {
    const text = 'Привет 😀\nReference: 23456789ABCDEFGH "quoted" \u202e'
    expect(parseMessage(metaText('5511987654321', text, 'wamid.1'))).to.deep.equal([
      { kind: 'message', id: 'wamid.1', from: '5511987654321', user_id: null, text },
    ])
  })

  it('contain the title of a button or list item that a user tapped', () => {
    const tapped = { from: '447700900123', id: 'wamid.1', timestamp: '1' }
    const reply = { id: 'i', title: 'Yes' }
    for (const message of [
      { type: 'button', button: { payload: 'p', text: 'Yes' } },
      { type: 'interactive', interactive: { type: 'button_reply', button_reply: reply } },
      { type: 'interactive', interactive: { type: 'list_reply', list_reply: reply } },
    ])
      expect(parseMessage({ ...tapped, ...message })).to.deep.equal([
        { kind: 'message', id: 'wamid.1', from: '447700900123', user_id: null, text: 'Yes' },
      ])
  })

  it('have an empty sender when the user hides the number', () => {
    const message = { from_user_id: 'GB.123', id: 'wamid.1', type: 'text', text: { body: 'hi' } }
    expect(parseMessage(message)).to.deep.equal([
      { kind: 'message', id: 'wamid.1', from: '', user_id: 'GB.123', text: 'hi' },
    ])
  })

  describe('with a contact', () => {
    const phone = { phone: '+44 7700 900123', wa_id: '447700900123', type: 'MOBILE' }
    const card = { origin: 'contact_request', name: { formatted_name: 'Zoë' }, phones: [phone] }
    const shared = { from_user_id: 'GB.123', id: 'wamid.1', type: 'contacts', contacts: [card] }
    const withProfile = (message: object, profile: object) =>
      parse(noticeCallback({ messages: [message], contacts: [{ profile: { name: 'Zoë' }, ...profile }] }))
    const own = { kind: 'contact', id: 'wamid.1', user_id: 'GB.123', from: '447700900123' }
    const unnamed = { user_id: 'GB.123' }

    const taken: [string, object, object?][] = [
      ['by the button', shared],
      ['with the origin beside the card', { ...shared, origin: 'contact_request', contacts: [{ phones: [phone] }] }],
      ['from a number that Meta names', { ...shared, from: '447700900123' }],
      ['from a number in the profile', shared, { user_id: 'GB.123', wa_id: '447700900123' }],
      [
        'without an id, from a number that Meta names',
        { ...shared, from: '447700900123', contacts: [{ ...card, phones: [{ phone: '+447700900123' }] }] },
      ],
    ]
    for (const [words, message, profile = unnamed] of taken)
      it(`tell the number that a user shared ${words}`, () =>
        expect(withProfile(message, profile)).to.deep.equal([own]))

    const ignored: [string, object, object?][] = [
      ['that was not asked for', { ...shared, contacts: [{ ...card, origin: 'other' }] }],
      ['without an origin', { ...shared, contacts: [{ phones: [phone] }] }],
      ['of another user', { ...shared, contacts: [{ ...card, user_id: 'GB.456' }] }],
      ['from another number', { ...shared, from: '447700900124' }],
      ['from another number in the profile', shared, { user_id: 'GB.123', wa_id: '447700900124' }],
      ['beside a second one', { ...shared, contacts: [card, card] }],
      ['with two numbers', { ...shared, contacts: [{ ...card, phones: [phone, phone] }] }],
      ['without a WhatsApp id', { ...shared, contacts: [{ ...card, phones: [{ phone: '+447700900123' }] }] }],
      ['from a user without an id', { ...shared, from_user_id: undefined, from: '447700900123' }],
      ['without cards', { ...shared, contacts: undefined }],
    ]
    for (const [words, message, profile = unnamed] of ignored)
      it(`tell nothing by one ${words}`, () => expect(withProfile(message, profile)).to.deep.equal([]))
  })

  for (const message of [
    { from: '1', id: 'wamid.1', type: 'image', image: { caption: 'x' } },
    { from: '1', id: 'wamid.1', type: 'reaction', reaction: { emoji: 'x' } },
    { from: '1', id: 'wamid.1', type: 'unsupported', errors: [{ code: 131051 }] },
    { from: '1', id: 'wamid.1', type: 'text' },
    { from: '1', id: 'wamid.1', type: 'text', text: 'x' },
    { from: 1, id: 'wamid.1', type: 'text', text: { body: 'x' } },
    { from: '1', type: 'text', text: { body: 'x' } },
    { from: '1', id: 'wamid.1', type: '__proto__' },
  ])
    it(`of another kind are ignored: ${JSON.stringify(message)}`, () => {
      expect(parseMessage(message)).to.deep.equal([])
    })

  it('are not found in notifications of other fields and products', () => {
    const change = { field: 'message_template_status_update', value: { event: 'APPROVED' } }
    for (const notice of [
      { object: 'whatsapp_business_account', entry: [{ id: '1', changes: [change] }] },
      { object: 'page', entry: [{ id: '1', time: 1, messaging: [{}] }] },
      { object: 'whatsapp_business_account', entry: [] },
    ])
      expect(parse(signed(JSON.stringify(notice)))).to.deep.equal([])
  })
})

describe("Meta's signature", () => {
  it('is checked as the documentation says', () => {
    // sha256=hex(HMAC_SHA256(body, app secret)), computed with another program.
    const headers = { 'x-hub-signature-256': 'sha256=eefab58106e73358686845848feb95c56372e7391b3dc050b6a31c8c5f347ece' }
    const body = Buffer.from('{"object":"whatsapp_business_account","entry":[]}')
    const callback = { method: 'POST', url: new URL(CALLBACK_URL), body } as const
    expect(parse({ ...callback, headers })).to.deep.equal([])
    const older = { 'x-hub-signature': headers['x-hub-signature-256'] }
    expect(() => parse({ ...callback, headers: older })).to.throw(BadSignature)
  })

  it('needs the app secret: without it there are no callbacks', () => {
    expect(createReceiver({ app_secret: null })).to.not.have.property('parseCallback')
  })

  it('lets any random items of a notice be parsed, or the notice be a bad callback', () => {
    const isHandled = (value: unknown): boolean => {
      const entry = [{ changes: [{ field: 'messages', value }] }]
      try {
        return Array.isArray(parse(signed(JSON.stringify({ object: 'whatsapp_business_account', entry }))))
      } catch (error) {
        return error instanceof BadCallback
      }
    }
    fc.assert(fc.property(fc.jsonValue(), isHandled))
    const metadata = { phone_number_id: APP.phone_number_id }
    const members = { messaging_product: fc.constant('whatsapp'), metadata: fc.constant(metadata) }
    const lists = { statuses: fc.array(fc.jsonValue()), messages: fc.array(fc.jsonValue()) }
    fc.assert(fc.property(fc.record({ ...members, ...lists }), isHandled))
  })
})

describe("Meta's handshake", () => {
  const answerHandshake = (query: Record<string, string>, token: string | null = 'a verify token') =>
    createReceiver({ verify_token: token }).answerHandshake?.(new URLSearchParams(query))
  const handshake = { 'hub.mode': 'subscribe', 'hub.verify_token': 'a verify token', 'hub.challenge': '1158201444' }

  it('is answered with the challenge, and refused when a part is wrong, missing or malformed', () => {
    expect(answerHandshake(handshake)).to.equal('1158201444')
    for (const name of Object.keys(handshake)) {
      const { [name as keyof typeof handshake]: _, ...rest } = handshake
      expect(answerHandshake(rest)).to.equal(null)
    }
    for (const [name, values] of [
      ['verify_token', ['', 'a verify toke', 'a verify token ', 'A VERIFY TOKEN', '\ud800']],
      ['mode', ['unsubscribe']],
      ['challenge', ['', '<script>alert(1)</script>', 'x'.repeat(201), 'a\r\nb: c']],
    ] as const)
      for (const value of values)
        expect(answerHandshake({ ...handshake, [`hub.${name}`]: value }), `${name} ${value}`).to.equal(null)
  })

  it('is not supported without a verify token', () => {
    expect(createReceiver({ verify_token: null })).to.not.have.property('answerHandshake')
  })
})

describe("Meta's languages", () => {
  it('of a locale are those of its language, with its own country first', () => {
    for (const [tag, codes] of Object.entries({
      en: ['en', 'en_US', 'en_GB'],
      'en-GB': ['en_GB', 'en', 'en_US'],
      'en-AU': ['en', 'en_US', 'en_GB'],
      'pt-PT': ['pt_PT', 'pt_BR'],
      zh: ['zh_CN'],
      'zh-SG': ['zh_CN'],
      'zh-HK': ['zh_HK', 'zh_TW'],
      'zh-Hant': ['zh_TW', 'zh_HK'],
      'zh-Hant-HK': ['zh_HK', 'zh_TW'],
      'nb-NO': ['nb'],
      nn: ['nb'],
      iw: ['he'],
      'sr-Latn': ['sr'],
      ky: ['ky_KG'],
      tlh: [],
      '': [],
      en_US: [],
      '!': [],
      'x-private': [],
    }))
      expect(metaLanguages(tag), JSON.stringify(tag)).to.deep.equal(codes)
  })

  it('are known for every language that we have texts in', () => {
    expect(LANGUAGES.filter(tag => metaLanguages(tag).length === 0)).to.deep.equal([])
  })
})
