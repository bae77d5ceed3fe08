import { expect } from 'chai'
import type { ReceivedCall } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Channel } from '../../../machines/channels.ts'
import {
  type Provider,
  ProviderFault,
  RecipientFault,
  type RenderedMessage,
  UnknownOutcome,
} from '../../../services/channel/provider.ts'
import { createBuildProvider, PROVIDER_FACTORIES } from '../../../services/channel/providers/factories.ts'
import { createTestProvider } from '../../../services/channel/test-provider.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { testRecipientContext } from '../../../services/domain/tenancy/provider-test.ts'
import { createTenancy } from '../../../services/domain/tenancy/tenancy.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { createTenant, RECIPIENT } from '../../support/queued-otps.ts'
import { collectionNames, rawDocuments } from '../../support/raw-documents.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

const TIMEOUT_MS = 8_000
const gateway = (name: string, channel: Channel = 'sms') => ({
  name,
  channel,
  type: 'http',
  config: { url: 'https://g.example/' },
})
const TENANT = {
  settings: { locale: 'fr', code: { length: 8, ttl_seconds: 300 } },
  providers: [gateway('gateway'), gateway('mail', 'email'), { name: 'box', channel: 'sms', type: 'sandbox' }],
}

onEmbeddedStore('a test of a provider', fresh => {
  async function open(send: Provider['send'], { channel = 'sms' as Channel, keys = [1] } = {}) {
    const store = await fresh()
    const [clock, keyring, captured] = [testClock(), testKeyring(), createCapturedLog()]
    await createTenant({ store, keyring, clock }, TENANT)
    const sent: RenderedMessage[] = []
    let closed = 0
    const provider: Provider = {
      send: (message, signal) => {
        sent.push(message)
        return send(message, signal)
      },
      close: () => {
        closed += 1
      },
    }
    const factories = { ...PROVIDER_FACTORIES, http: () => provider }
    const { log } = captured
    const outbound = {} as never
    const own = testKeyring(...keys)
    const test = (of: CountersignStore) =>
      createTestProvider({
        channel,
        tenancy: createTenancy({ store: of, keyring: own, clock }),
        buildProvider: createBuildProvider({ factories, providerDeps: { outbound, clock }, publicUrl: null }),
        keyring: own,
        clock,
        log,
        timeoutMs: TIMEOUT_MS,
      })
    const callTo = (name: string, body: object = {}): ReceivedCall => ({
      id: 'call',
      body: {
        type: 'provider.test',
        app_id: 'app_shop',
        provider: name,
        sealed_recipient: keyring.seal(RECIPIENT, testRecipientContext('app_shop', name)),
        ...body,
      },
      trace: { request_id: 'req-1', traceparent: null },
      expired: () => false,
    })
    return {
      store,
      clock,
      sent,
      captured,
      callTo,
      closed: () => closed,
      test: (name: string, body: object = {}, of = store) => test(of)(callTo(name, body)),
    }
  }
  const accept: Provider['send'] = async () => ({ reference: 'v-1', httpStatus: 202 })
  const answer = (httpStatus: number | null, vendorCode: string | null, vendorText: string | null) => ({
    answer: { httpStatus, vendorCode, vendorText },
  })

  it("sends the app's text with a made-up code of the app's length, and closes the provider", async () => {
    const { test, sent, closed, clock } = await open(accept)
    expect(await test('gateway')).to.deep.equal({
      kind: 'called',
      outcome: 'accepted',
      http_status: 202,
      vendor_code: null,
      vendor_text: null,
      ms: 0,
    })
    const [message] = sent
    expect(message?.recipient).to.equal(RECIPIENT)
    expect(message?.code).to.match(/^\d{8}$/)
    expect(message?.text).to.equal(`${message?.code} est votre code de vérification Shop.`)
    expect(message?.expires_at).to.equal(clock.now() + 300_000)
    expect(message?.delivery_id).to.match(/^dlv_/)
    expect(closed()).to.equal(1)
    await test('gateway')
    expect(sent[1]?.code).not.to.equal(message?.code)
    const mail = await open(accept, { channel: 'email' })
    expect((await mail.test('mail')).kind).to.equal('called')
    expect([typeof mail.sent[0]?.subject, typeof mail.sent[0]?.html]).to.deep.equal(['string', 'string'])
  })

  it('stores nothing, and logs neither the recipient nor the code', async () => {
    const { store, test, sent, captured } = await open(accept)
    const documents = async () => (await Promise.all(collectionNames.map(name => rawDocuments(store, name)))).flat()
    const before = await documents()
    await test('gateway')
    expect(await documents()).to.deep.equal(before)
    const [line] = captured.lines().filter(({ msg }) => msg === 'provider.tested')
    expect(line).to.include({
      request_id: 'req-1',
      app_id: 'app_shop',
      channel: 'sms',
      provider: 'gateway',
      outcome: 'accepted',
      http_status: 202,
    })
    expect(captured.output()).not.to.include(sent[0]?.code).and.not.to.include(RECIPIENT.slice(1))
  })

  it('tells what happened: a refusal in the words of the vendor, or no answer', async () => {
    const refused = (http_status: number | null, vendor_code: string | null, vendor_text: string) =>
      ({ outcome: 'refused', http_status, vendor_code, vendor_text }) as const
    const noAnswer = (http_status: number | null, vendor_text: string) =>
      ({ outcome: 'no_answer', http_status, vendor_code: null, vendor_text }) as const
    for (const [error, expected] of [
      [
        new RecipientFault('it answered 400', answer(400, '21211', `${RECIPIENT} is not a number`)),
        refused(400, '21211', '[phone] is not a number'),
      ],
      [new ProviderFault('535', answer(null, '535 5.7.8', 'Bad password')), refused(null, '535 5.7.8', 'Bad password')],
      [new ProviderFault('it cannot be reached'), noAnswer(null, 'it cannot be reached')],
      [
        new UnknownOutcome('x', answer(200, null, 'it answered with success')),
        noAnswer(200, 'it answered with success'),
      ],
    ] as const) {
      const { test } = await open(() => Promise.reject(error))
      expect(await test('gateway')).to.include(expected)
    }
  })

  it('ends with the timeout of providers', async () => {
    const { test, clock, sent, closed } = await open(() => new Promise(() => {}))
    const testing = test('gateway')
    while (sent.length === 0) await clock.advance(0)
    await clock.advance(TIMEOUT_MS)
    expect(await testing).to.include({
      outcome: 'no_answer',
      vendor_text: 'it did not answer in time',
      ms: TIMEOUT_MS,
    })
    expect(closed()).to.equal(1)
  })

  it('is of the config as it is stored now: not of an unknown provider, nor of one of another channel or app', async () => {
    const { store, test, sent } = await open(accept)
    expect(await test('box'), 'a sandbox').to.include({ kind: 'called', outcome: 'accepted' })
    expect((await test('gateway', { app_id: 'app_none' })).kind).to.equal('no_such_provider')
    await store.docs('providers').remove({ _id: 'app_shop:gateway' }, 1)
    expect(await test('gateway')).to.deep.equal({ kind: 'no_such_provider' })
    expect(await test('none')).to.deep.equal({ kind: 'no_such_provider' })
    expect(await test('mail')).to.deep.equal({ kind: 'no_such_provider' })
    expect(sent).to.deep.equal([])
  })

  it('says so when a data key is missing, when the store is away, and when it does not understand', async () => {
    const lacking = await open(accept, { keys: [7] })
    expect(await lacking.test('gateway')).to.deep.equal({ kind: 'missing_key' })
    expect(lacking.captured.lines().map(({ msg }) => msg)).to.include('key.missing')
    const reject = () => Promise.reject(new Unavailable('away'))
    const away = { ...lacking.store, docs: () => ({ get: reject, find: reject }) } as never
    expect(await lacking.test('gateway', {}, away)).to.deep.equal({ kind: 'unavailable' })
    expect(await lacking.test('gateway', { type: 'provider.sing' })).to.deep.equal({ kind: 'not_understood' })
  })

  it('sends nothing to a recipient that was sealed for another provider', async () => {
    const { test, callTo, sent } = await open(accept)
    const { sealed_recipient } = callTo('box').body as { sealed_recipient: string }
    const error = await test('gateway', { sealed_recipient }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Error)
    expect(sent).to.deep.equal([])
  })
})
