import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Message } from '../../../../infra/broker/broker.ts'
import { createHttpShell } from '../../../../infra/http/shell.ts'
import { createMetrics } from '../../../../infra/metrics.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import { attemptId } from '../../../../services/channel/attempts.ts'
import { createHandleCallback } from '../../../../services/channel/callbacks/receipts.ts'
import { createCallbackRouter } from '../../../../services/channel/callbacks/router.ts'
import {
  BadCallback,
  BadSignature,
  type Callback,
  type CallbackItem,
  type Provider,
} from '../../../../services/channel/provider.ts'
import { applyBootstrap, readBootstrap } from '../../../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createTenancy } from '../../../../services/domain/tenancy/tenancy.ts'
import type { AttemptDoc } from '../../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { referenceIndex } from '../../../../services/domain/verifications/lookup-indexes.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { type ServedApp, serveApp } from '../../../support/serve-app.ts'
import { eachStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const DELIVERY = 'dlv_01jgfj1z000000000000000001'
const REFERENCE = '23456789ABCDEFGH'

/** A vendor whose signature is its secret, and whose callbacks are what we hear. */
const vendor = (secret: string, received: Callback[]): Provider => ({
  send: async () => ({ reference: null }),
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
  channel: 'sms',
  type: 'http',
  config: { url: 'https://g.example/', secret: `secret of ${name}` },
  ...more,
})
const BOOTSTRAP = {
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      apps: [
        { id: 'app_shop', name: 'Shop', providers: [provider('main'), provider('spare'), provider('mute')] },
        { id: 'app_other', name: 'Other', providers: [provider('main')] },
      ],
    },
  ],
}

eachStore('the callbacks of vendors', fresh => {
  let store: CountersignStore
  let published: Message[]
  let received: Callback[]
  let down: boolean
  let server: ServedApp
  const clock = testClock()
  const keyring = testKeyring()

  beforeEach(async () => {
    store = await fresh()
    await applyBootstrap(readBootstrap(JSON.stringify(BOOTSTRAP)), { store, keyring, clock })
    published = []
    received = []
    down = false
    const { log } = createCapturedLog()
    const metrics = createMetrics()
    const broker = {
      async publish(_: string, message: Message) {
        if (down) throw new Unavailable('no broker')
        published.push(message)
      },
    }
    const router = createCallbackRouter({
      clock,
      log,
      metrics,
      tenancy: createTenancy({ store, keyring }),
      http: { publicUrl: 'https://otp.example/base', maxBodyBytes: 16 },
      buildProvider: ({ name }) =>
        name === 'mute' ? { send: async () => ({ reference: null }) } : vendor(`secret of ${name}`, received),
      handleCallback: createHandleCallback({
        attempts: store.docs('attempts'),
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
      provider: 'main',
      round: 1,
      at: clock.now(),
      result: null,
      reference: null,
      purge_at: new Date(clock.now()),
      rev: 1,
      ...more,
    }
    const _id = attemptId(doc.delivery_id, doc.provider, doc.round)
    return store.docs('attempts').insert([{ ...doc, _id }])
  }
  const receipt = (more: Partial<Extract<CallbackItem, { kind: 'receipt' }>> = {}) => [
    { kind: 'receipt', delivery_id: DELIVERY, reference: null, status: 'delivered', ...more },
  ]
  const statuses = () => published.map(({ body }) => (body as { status: string }).status)

  it('report what became of a delivery, even before the call that made it has returned', async () => {
    await attempt()
    expect(await call('app_shop/main', receipt())).to.deep.equal({ status: 200 })
    const body = { type: 'delivery.reported', otp_id: 'otp_1', delivery_id: DELIVERY, status: 'delivered' }
    expect(published).to.deep.equal([{ id: `${DELIVERY}@main:delivered`, body: { ...body, at: clock.now() } }])
  })

  it('are asked for again while the key of the provider is missing: what a vendor says is not lost by it', async () => {
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

  it('find it by the vendor’s own name for it as well', async () => {
    await attempt({ result: 'accepted', reference: 'SM1' })
    await call('app_shop/main', receipt({ delivery_id: null, reference: 'SM1' }))
    await call('app_shop/main', receipt({ delivery_id: 'dlv_none', reference: 'SM1' }))
    expect(published.map(({ id }) => id)).to.deep.equal([`${DELIVERY}@main:delivered`, `${DELIVERY}@main:delivered`])
  })

  it('find it in any round', async () => {
    await attempt({ result: 'failed' })
    await attempt({ round: 3, result: 'accepted' })
    await call('app_shop/main', receipt())
    expect(statuses()).to.deep.equal(['delivered'])
  })

  it('are given the exact bytes, and the address as the vendor has it', async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d])
    await fetch(`${server.url}/callbacks/app_shop/main?delivery=1&x=%20a+b`, { method: 'POST', body: bytes })
    const [callback] = received
    expect(Buffer.from(callback?.body ?? []).equals(bytes)).to.equal(true)
    expect(callback?.url.href).to.equal('https://otp.example/base/callbacks/app_shop/main?delivery=1&x=%20a+b')
  })

  describe('are refused', () => {
    const unknown: [string, string, string][] = [
      ['with a wrong signature', 'app_shop/main', 'wrong'],
      ['with that of another provider', 'app_shop/main', 'secret of spare'],
      ['for an app there is not', 'app_none/main', 'secret of main'],
      ['for a provider there is not', 'app_shop/none', 'secret of main'],
      ['for a provider that never calls', 'app_shop/mute', 'secret of mute'],
      ['for what no app can be called', 'cmp_acme/main', 'secret of main'],
      ['for what no provider can be called', 'app_shop/__proto__', 'secret of main'],
    ]
    for (const [what, path, signature] of unknown)
      it(`${what}, all with the same words`, async () => {
        await attempt()
        const refused = await call('app_shop/main', receipt(), '')
        expect(refused).to.include({ status: 401, type: 'HTTPException' })
        expect(await call(path, receipt(), signature)).to.deep.equal(refused)
        expect(published).to.deep.equal([])
      })

    it('when signed and unreadable: 400', async () => {
      expect(await call('app_shop/main', 'hello')).to.include({ status: 400 })
    })

    it('when larger than a vendor’s can be, before anybody looks at them', async () => {
      expect(await call('app_shop/main', 'x'.repeat(2 ** 20 + 1))).to.include({ status: 413 })
      expect(received).to.deep.equal([])
    })

    it('in any other spelling of the address, and by any other method', async () => {
      expect((await fetch(`${server.url}/Callbacks/app_shop/main`, { method: 'POST' })).status).to.equal(404)
      expect((await fetch(`${server.url}/callbacks/app_shop/main`, { method: 'PUT' })).status).to.equal(405)
    })
  })

  describe('touch nothing that is not theirs', () => {
    const foreign: [string, Partial<AttemptDoc>][] = [
      ['another app’s', { app_id: 'app_other' }],
      ['another provider’s', { provider: 'spare' }],
    ]
    for (const [what, whose] of foreign)
      it(`${what} deliveries, by either name; they are told it is fine, and nothing happens`, async () => {
        await attempt({ ...whose, result: 'accepted', reference: 'SM1' })
        for (const named of [{}, { delivery_id: null, reference: 'SM1' }])
          expect(await call('app_shop/main', receipt(named))).to.deep.equal({ status: 200 })
        expect(published).to.deep.equal([])
      })

    it('a delivery nobody knows', async () => {
      expect(await call('app_shop/main', receipt())).to.deep.equal({ status: 200 })
      expect(published).to.deep.equal([])
    })

    it('a message that another provider has by now: it may have arrived, but not have failed', async () => {
      await attempt({ result: 'unknown' })
      await clock.advance(1)
      await attempt({ provider: 'spare', result: 'accepted' })
      await call('app_shop/main', receipt({ status: 'failed' }))
      expect(published).to.deep.equal([])
      await call('app_shop/main', receipt())
      await call('app_shop/spare', receipt({ status: 'failed' }), 'secret of spare')
      expect(statuses()).to.deep.equal(['delivered', 'failed'])
    })

    it('but a message that came back from another provider, which failed', async () => {
      await attempt({ provider: 'spare', result: 'failed' })
      await attempt({ result: 'accepted' })
      await call('app_shop/main', receipt({ status: 'failed' }))
      expect(statuses()).to.deep.equal(['failed'])
    })
  })

  it('are answered 503 when what they say is not safe, so that the vendor says it again', async () => {
    await attempt()
    down = true
    expect(await call('app_shop/main', receipt())).to.include({ status: 503 })
    down = false
    expect(await call('app_shop/main', receipt())).to.include({ status: 200 })
    expect(statuses()).to.deep.equal(['delivered'])
  })

  it('pass on what a user wrote, sealed, under one name however often it is told', async () => {
    const message = { kind: 'message', id: 'wamid.1', from: '447700900123', text: `Hi ${REFERENCE}!` }
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
