import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { BadCallback, BadSignature, type Callback } from '../../../../services/channel/provider.ts'
import { createWhatsappProvider } from '../../../../services/channel/providers/whatsapp_cloud.ts'
import type { ProviderConfigs } from '../../../../services/domain/tenancy/provider-types/list.ts'
import { metaCall, metaNotice, metaSignatureHeaders, metaStatus, metaText } from '../../../support/vendors/meta.ts'
import { CALLBACK_URL, callbackOf, DELIVERY_ID, testProviderDeps } from '../../../support/vendors/provider-fixtures.ts'
import { itTakesReceipts } from '../../../support/vendors/receipt-cases.ts'

const APP = { phone_number_id: '106540352242922', app_secret: '0123456789abcdef0123456789abcdef' }

const createProvider = (more: Partial<ProviderConfigs['whatsapp_cloud']> = {}) =>
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
const provider = createProvider()

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

  it('come in batches together with messages', () => {
    const values = [
      { statuses: [metaStatus('wamid.1', 'sent', 'dlv_1'), metaStatus('wamid.2', 'failed', 'dlv_2')] },
      { messages: [metaText('447700900123', 'hello', 'wamid.3')] },
    ]
    expect(parse(noticeCallback(...values))?.map(({ kind }) => kind)).to.deep.equal(['receipt', 'receipt', 'message'])
  })

  it('of another phone number of the same Meta app are ignored', () => {
    const body = metaNotice([{ statuses: [metaStatus('wamid.1', 'read', DELIVERY_ID)] }], { phone_number_id: '999' })
    expect(parse(callbackOf(metaCall(CALLBACK_URL, body, APP)))).to.deep.equal([])
  })

  it('are parsed even if other items of the batch cannot be parsed', () => {
    const malformed = [null, 7, 'x', [], {}, { id: 7, status: 'read' }, { id: '', status: 'read' }, { id: 'wamid.0' }]
    const payload = { id: 'wamid.4', status: 'read', biz_opaque_callback_data: { $ne: null } }
    expect(
      parse(noticeCallback({ statuses: [...malformed, payload, metaStatus('wamid.1', 'read')] })),
    ).to.have.lengthOf(1)
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
    const texts = [
      { ...tapped, type: 'button', button: { payload: 'p', text: 'Yes' } },
      {
        ...tapped,
        type: 'interactive',
        interactive: { type: 'button_reply', button_reply: { id: 'i', title: 'Yes' } },
      },
      { ...tapped, type: 'interactive', interactive: { type: 'list_reply', list_reply: { id: 'i', title: 'Yes' } } },
    ]
    for (const message of texts)
      expect(parseMessage(message)).to.deep.equal([
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

  it('to another phone number of the same Meta app are ignored', () => {
    const body = metaNotice([{ messages: [metaText('1', 'x')] }], { phone_number_id: '999' })
    expect(parse(callbackOf(metaCall(CALLBACK_URL, body, APP)))).to.deep.equal([])
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
    expect(createProvider({ app_secret: null })).to.not.have.property('parseCallback')
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
    createProvider({ verify_token: token }).answerHandshake?.(new URLSearchParams(query))
  const handshake = { 'hub.mode': 'subscribe', 'hub.verify_token': 'a verify token', 'hub.challenge': '1158201444' }

  it('is answered with the challenge', () => {
    expect(answerHandshake(handshake)).to.equal('1158201444')
  })

  it('is refused for a wrong token', () => {
    for (const token of ['', 'a verify toke', 'a verify token ', 'A VERIFY TOKEN', '\ud800'])
      expect(answerHandshake({ ...handshake, 'hub.verify_token': token })).to.equal(null)
  })

  it('is refused when a part is missing or malformed', () => {
    for (const name of Object.keys(handshake)) {
      const { [name as keyof typeof handshake]: _, ...rest } = handshake
      expect(answerHandshake(rest)).to.equal(null)
    }
    expect(answerHandshake({ ...handshake, 'hub.mode': 'unsubscribe' })).to.equal(null)
    for (const challenge of ['', '<script>alert(1)</script>', 'x'.repeat(201), 'a\r\nb: c'])
      expect(answerHandshake({ ...handshake, 'hub.challenge': challenge })).to.equal(null)
  })

  it('is not supported without a verify token', () => {
    expect(createProvider({ verify_token: null })).to.not.have.property('answerHandshake')
  })
})
