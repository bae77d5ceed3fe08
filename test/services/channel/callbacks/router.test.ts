import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Message } from '../../../../infra/broker/broker.ts'
import { createFindCaller } from '../../../../infra/http/caller-address.ts'
import { createHttpShell } from '../../../../infra/http/shell.ts'
import { createMetrics } from '../../../../infra/metrics.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { createHandleCallback } from '../../../../services/channel/callbacks/receipts.ts'
import { createCallbackRouter } from '../../../../services/channel/callbacks/router.ts'
import {
  BadCallback,
  BadSignature,
  type Callback,
  type CallbackItem,
  type Provider,
} from '../../../../services/channel/provider.ts'
import { attemptId, storedReference } from '../../../../services/channel/provider-attempts.ts'
import { createBuildProvider, PROVIDER_FACTORIES } from '../../../../services/channel/providers/factories.ts'
import { applyBootstrap, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import type { AttemptDoc } from '../../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { referenceIndex } from '../../../../services/domain/verifications/lookup-indexes.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { type ServedApp, serveApp } from '../../../support/serve-app.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const DELIVERY = 'dlv_01jgfj1z000000000000000001'
const REFERENCE = '23456789ABCDEFGH'

/** A vendor whose signature is its secret, and whose callbacks are lists of callback items. */
const vendor = (secret: string, received: Callback[]): Provider => ({
  send: async () => ({ reference: null }),
  async prepareCallback({ body }) {
    if (Buffer.from(body).toString() === 'no certificate') throw new Error('it cannot be fetched')
  },
  parseCallback(callback) {
    received.push(callback)
    if (callback.headers.signature !== secret) throw new BadSignature()
    const content = Buffer.from(callback.body).toString()
    if (!content.startsWith('[')) throw new BadCallback()
    return JSON.parse(content) as CallbackItem[]
  },
  answerHandshake: query => (query.get('hub.verify_token') === secret ? query.get('hub.challenge') : null),
})

const provider = (name: string, more: object = {}) => ({
  name,
  channel: 'whatsapp',
  type: 'http',
  config: { url: 'https://g.example/', secret: `receipt secret of ${name}` },
  ...more,
})
const TWILIO = {
  channel: 'sms',
  type: 'twilio',
  config: { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'token of the account', from: '+15005550006' },
}
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      apps: [
        { id: 'app_shop', name: 'Shop', providers: [provider('main'), provider('spare'), provider('mute')] },
        { id: 'app_other', name: 'Other', providers: [provider('main'), provider('vendor', TWILIO)] },
      ],
    },
  ],
}

onEmbeddedStore('the callbacks of vendors', fresh => {
  let store: CountersignStore
  let published: Message[]
  let received: Callback[]
  let brokerIsDown: boolean
  /** The broker confirms what it was given once this has resolved. */
  let confirmed: Promise<unknown>
  let server: ServedApp
  const clock = testClock()
  const keyring = testKeyring()

  beforeEach(async () => {
    store = await fresh()
    await applyBootstrap(readBootstrap(JSON.stringify(BOOTSTRAP)), { store, keyring, clock })
    published = []
    received = []
    brokerIsDown = false
    confirmed = Promise.resolve()
    const { log } = createCapturedLog()
    const metrics = createMetrics()
    const createVendor = ({ name }: { name: string }): Provider =>
      name === 'mute' ? { send: async () => ({ reference: null }) } : vendor(`secret of ${name}`, received)
    const broker = {
      async publish(_: string, message: Message) {
        if (brokerIsDown) throw new Unavailable('no broker')
        published.push(message)
        await confirmed
      },
    }
    const router = createCallbackRouter({
      findCaller: createFindCaller([]),
      clock,
      log,
      metrics,
      tenancy: createTenancy({ store, keyring, clock }),
      http: { publicUrl: 'https://otp.example/base', maxBodyBytes: 16 },
      buildProvider: createBuildProvider({
        factories: { ...PROVIDER_FACTORIES, http: createVendor, twilio: createVendor },
        providerDeps: { clock, outbound: {} as never },
        publicUrl: null,
      }),
      handleCallback: createHandleCallback({
        attempts: store.docs('attempts'),
        otps: store.docs('otps'),
        broker,
        keyring,
        clock,
        log,
        metrics,
        rounds: 4,
      }),
    })
    server = await serveApp(createHttpShell({ log, metrics, clock }, [router]))
  })
  afterEach(() => server.close())

  const call = async (path: string, content: unknown, signature = 'secret of main') => {
    const body = typeof content === 'string' ? content : JSON.stringify(content)
    const answer = await fetch(`${server.url}/callbacks/${path}`, { method: 'POST', headers: { signature }, body })
    if (answer.status === 200) return { status: 200 }
    const { request_id, ...problem } = (await answer.json()) as Record<string, unknown>
    return problem
  }
  const attempt = (more: Partial<AttemptDoc> = {}): Promise<unknown> => {
    const doc: AttemptDoc = {
      _id: '',
      otp_id: 'otp_1',
      app_id: 'app_shop',
      delivery_id: DELIVERY,
      channel: 'sms',
      provider: 'main',
      round: 1,
      at: clock.now(),
      result: null,
      reference: null,
      purge_at: new Date(clock.now()),
      rev: 1,
      ...more,
    }
    const _id = attemptId(doc.delivery_id, doc.provider, doc.round, doc.call)
    return store.docs('attempts').insert([{ ...doc, _id }])
  }
  const receipt = (more: Partial<Extract<CallbackItem, { kind: 'receipt' }>> = {}) => [
    { kind: 'receipt', delivery_id: DELIVERY, reference: null, status: 'delivered', ...more },
  ]
  const statuses = () => published.map(({ body }) => (body as { status: string }).status)

  it('report the status of a delivery, even before the provider call has returned, and why that came first', async () => {
    const because = { rule: 'best', share: 0.98, conversion: 0.8 } as const
    await attempt({ because })
    expect(await call('app_shop/main', receipt())).to.deep.equal({ status: 200 })
    const delivered = { type: 'delivery.reported', otp_id: 'otp_1', delivery_id: DELIVERY, status: 'delivered' }
    const id = `${DELIVERY}@main:delivered`
    const [{ trace, ...report } = { trace: undefined }] = published
    expect(report).to.deep.equal({ id, body: { ...delivered, provider: 'main', because, at: clock.now() } })
    expect(trace?.request_id, 'a trace of its own').to.match(/^[0-9a-f-]{36}$/)
  })

  it("report why a delivery failed, without the recipient in the vendor's words", async () => {
    await attempt()
    const failure = {
      reason: 'recipient_unreachable',
      vendorCode: 'E7',
      vendorText: '+44 7700 900123 is unknown, see https://v.example/m?token=x',
    } as const
    await call('app_shop/main', receipt({ status: 'failed', failure }))
    const said = { vendor_code: 'E7', vendor_text: '[phone] is unknown, see [url]' }
    expect(published[0]?.body).to.include({ provider: 'main', reason: 'recipient_unreachable', ...said })
  })

  it('are refused with 429 after 30 wrong signatures in a minute from one address, for that provider alone, also where there is none', async () => {
    const refused = { type: 'RateLimitExceededError', status: 429, scope: 'callback_signature' }
    for (const path of ['app_shop/main', 'app_none/main']) {
      for (let nth = 0; nth < 30; nth += 1) expect(await call(path, receipt(), 'wrong')).to.include({ status: 401 })
      expect(await call(path, receipt(), 'wrong')).to.include(refused)
      expect(await call(path, receipt()), 'a right one').to.include(refused)
    }
    expect(await call('app_shop/spare', receipt(), 'secret of spare')).to.deep.equal({ status: 200 })
    await clock.advance(60_000)
    expect(await call('app_shop/main', receipt())).to.deep.equal({ status: 200 })
  })

  it("are taken from a vendor's servers although strangers with an account there sign wrongly from the same ones", async () => {
    await attempt({ app_id: 'app_other', provider: 'vendor' })
    for (let nth = 0; nth < 31; nth += 1) await call('app_other/vendor', receipt(), "a stranger's")
    expect(await call('app_other/vendor', receipt(), "a stranger's")).to.include({ status: 429 })
    expect(await call('app_other/vendor', receipt(), 'secret of vendor')).to.deep.equal({ status: 200 })
    expect(statuses()).to.deep.equal(['delivered'])
  })

  it('are answered with 503 while what their check needs cannot be had, so that the vendor calls again', async () => {
    const refused = await call('app_shop/main', 'no certificate')
    expect(refused).to.include({ status: 503, type: 'ServiceUnavailableError' })
    expect(received).to.deep.equal([])
  })

  it('are answered with 503 while the encryption key of the provider is missing, so that the vendor calls again', async () => {
    await attempt()
    const providers = store.docs('providers')
    const { config = '' } = (await providers.get(['app_shop:main'])).get('app_shop:main') ?? {}
    const seal = (sealed: string) => providers.modify({ _id: 'app_shop:main' }, { $set: { config: sealed } })
    await seal(config.replace('v1.d1.', 'v1.gone.'))
    const refused = await call('app_shop/main', receipt())
    expect(refused).to.include({ status: 503, type: 'ServiceUnavailableError' })
    expect(await call('app_shop/none', receipt())).to.include({ status: 401 })
    expect(published).to.deep.equal([])
    await seal(config)
    await clock.advance(5_000)
    expect(await call('app_shop/main', receipt())).to.deep.equal({ status: 200 })
    expect(statuses()).to.deep.equal(['delivered'])
  })

  it('find the delivery by the vendor’s own id of the message too', async () => {
    await attempt({ result: 'accepted', reference: 'SM1' })
    await call('app_shop/main', receipt({ delivery_id: null, reference: 'SM1' }))
    await call('app_shop/main', receipt({ delivery_id: 'dlv_none', reference: 'SM1' }))
    expect(published.map(({ id }) => id)).to.deep.equal([`${DELIVERY}@main:delivered`, `${DELIVERY}@main:delivered`])
  })

  /** The attempts at a delivery in the order they were made, receipts of `main` as `<status> [<the vendor's id>]`, and what is reported. */
  const HISTORIES: [what: string, attempts: Partial<AttemptDoc>[], receipts: string[], reported: string[]][] = [
    ['of any round', [{ result: 'failed' }, { round: 3, result: 'accepted' }], ['delivered'], ['delivered']],
    [
      'of a message that was sent once more',
      [{ result: 'unknown' }, { call: 2, result: 'accepted', reference: 'SM2' }],
      ['delivered', 'failed SM2'],
      ['delivered', 'failed'],
    ],
    [
      'but no failure of a message that another provider has accepted since',
      [{ result: 'unknown' }, { provider: 'spare', result: 'accepted' }],
      ['failed', 'delivered'],
      ['delivered'],
    ],
    [
      'but no failure of another message than the one that the provider named; the first of them wins',
      [{ result: 'accepted', reference: storedReference('wamid.one') }],
      ['failed wamid.two', 'delivered wamid.two', 'failed wamid.one'],
      ['delivered', 'failed'],
    ],
    [
      'but no failure of a message that the same provider has sent once more since',
      [{ result: 'unknown' }, { call: 2, result: 'accepted', reference: 'SM2' }],
      ['failed SM1', 'delivered SM1'],
      ['delivered'],
    ],
    [
      'and the failure of the latest of two messages that the provider has accepted',
      [
        { result: 'accepted', reference: 'SM1' },
        { call: 2, result: 'accepted', reference: 'SM2' },
      ],
      ['failed SM1', 'failed SM2'],
      ['failed'],
    ],
    [
      'and a failure without the vendor’s id after a repeated call: it may be the latest',
      [{ result: 'unknown' }, { call: 2, result: 'accepted' }],
      ['failed'],
      ['failed'],
    ],
    [
      'and the failure of a message that another provider has failed to send',
      [{ provider: 'spare', result: 'failed' }, { result: 'accepted' }],
      ['failed'],
      ['failed'],
    ],
  ]
  for (const [what, attempts, receipts, reported] of HISTORIES)
    it(`are reported ${what}`, async () => {
      for (const one of attempts) {
        await attempt(one)
        await clock.advance(1)
      }
      for (const one of receipts) {
        const [status, reference = null] = one.split(' ')
        const given = { reference, status: status as 'failed' }
        expect(await call('app_shop/main', receipt(given))).to.deep.equal({ status: 200 })
      }
      expect(statuses()).to.deep.equal(reported)
      if (reported.includes('failed') && attempts.length === 1)
        expect(published.at(-1)?.body).to.include({ reason: 'provider_failed' }).and.not.have.property('vendor_text')
    })

  it('reach the provider with the exact bytes, and with the address that the vendor was given', async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d])
    await fetch(`${server.url}/callbacks/app_shop/main?delivery=1&x=%20a+b`, { method: 'POST', body: bytes })
    const [callback] = received
    expect(Buffer.from(callback?.body ?? []).equals(bytes)).to.equal(true)
    expect(callback?.url.href).to.equal('https://otp.example/base/callbacks/app_shop/main?delivery=1&x=%20a+b')
  })

  describe('are refused', () => {
    it('with the same response for a wrong signature, and wherever there is nothing to sign for', async () => {
      await attempt()
      const refused = await call('app_shop/main', receipt(), '')
      expect(refused).to.include({ status: 401, type: 'HTTPException' })
      for (const [path, signature] of [
        ['app_shop/main', 'wrong'],
        ['app_shop/main', 'secret of spare'],
        ['app_none/main', 'secret of main'],
        ['app_shop/none', 'secret of main'],
        ['app_shop/mute', 'secret of mute'],
        ['cmp_acme/main', 'secret of main'],
        ['app_shop/__proto__', 'secret of main'],
      ] as const)
        expect(await call(path, receipt(), signature), path).to.deep.equal(refused)
      expect(published).to.deep.equal([])
    })

    it('with 400 when they are signed and cannot be parsed', async () => {
      expect(await call('app_shop/main', 'hello')).to.include({ status: 400 })
    })

    it('with 413 when they are too large, before they reach the provider', async () => {
      expect(await call('app_shop/main', 'x'.repeat(2 ** 20 + 1))).to.include({ status: 413 })
      expect(received).to.deep.equal([])
    })

    it('at another spelling of the address, and with another method', async () => {
      expect((await fetch(`${server.url}/Callbacks/app_shop/main`, { method: 'POST' })).status).to.equal(404)
      expect((await fetch(`${server.url}/callbacks/app_shop/main`, { method: 'PUT' })).status).to.equal(405)
    })
  })

  it('are answered with 200 and change nothing for deliveries that are unknown, or of another app or provider', async () => {
    for (const owner of [null, { app_id: 'app_other' }, { provider: 'spare' }]) {
      if (owner) await attempt({ ...owner, result: 'accepted', reference: 'SM1' })
      for (const named of [{}, { delivery_id: null, reference: 'SM1' }])
        expect(await call('app_shop/main', receipt(named))).to.deep.equal({ status: 200 })
      expect(published).to.deep.equal([])
      await store.docs('attempts').remove({ _id: { $gt: '' } }, 10)
    }
  })

  it('are answered with 503 while their report cannot be published, so that the vendor calls again', async () => {
    await attempt()
    brokerIsDown = true
    expect(await call('app_shop/main', receipt())).to.include({ status: 503 })
    brokerIsDown = false
    expect(await call('app_shop/main', receipt())).to.include({ status: 200 })
    expect(statuses()).to.deep.equal(['delivered'])
  })

  it('are answered with 503 while 256 others are being handled', async () => {
    await attempt()
    let confirm = (): void => {}
    confirmed = new Promise<void>(resolve => {
      confirm = resolve
    })
    const waiting = Array.from({ length: 256 }, () => call('app_shop/main', receipt()))
    await eventually(() => expect(published).to.have.length(256))
    expect(await call('app_shop/main', receipt())).to.include({ status: 503 })
    confirm()
    expect(await Promise.all(waiting)).to.deep.equal(Array(256).fill({ status: 200 }))
  })

  it('are handled after 256 others were refused', async () => {
    for (let nth = 0; nth < 256; nth += 1) await call('app_shop/mute', receipt(), 'wrong')
    expect(await call('app_shop/main', receipt())).to.deep.equal({ status: 200 })
  })

  it('pass a user’s message on with its sender encrypted, under one id for all repetitions', async () => {
    const message = { kind: 'message', id: 'wamid.1', from: '447700900123', user_id: null, text: `Hi ${REFERENCE}!` }
    await call('app_shop/main', [message])
    await call('app_shop/main', [message])
    const [first, second] = published
    expect(first?.id)
      .to.match(/^message:[0-9a-f]{64}$/)
      .and.to.equal(second?.id)
    const { sealed_from, ...body } = (first as Message).body as { sealed_from: string }
    expect(body).to.deep.equal({
      type: 'message.received',
      app_id: 'app_shop',
      mode: 'live',
      at: clock.now(),
      references: [referenceIndex(keyring, REFERENCE)],
    })
    expect(keyring.unseal(sealed_from, inFlight.from)).to.equal('447700900123')
    await call('app_shop/main', [{ ...message, text: 'Hello?' }])
    expect(published, 'without a reference').to.have.length(2)
  })

  describe('that begin with a handshake', () => {
    const shake = async (path: string, token: string) => {
      const query = `hub.mode=subscribe&hub.challenge=%3Cb%3E42&hub.verify_token=${encodeURIComponent(token)}`
      const answer = await fetch(`${server.url}/callbacks/${path}?${query}`)
      return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
    }

    it('are answered with the challenge, as plain text', async () => {
      expect(await shake('app_shop/main', 'secret of main')).to.deep.equal({
        status: 200,
        type: 'text/plain; charset=utf-8',
        text: '<b>42',
      })
    })

    it('are refused with 403, whether or not there is such an app or provider', async () => {
      for (const path of ['app_shop/main', 'app_shop/mute', 'app_shop/none', 'app_none/main'])
        expect((await shake(path, 'wrong')).status).to.equal(403)
    })
  })
})
