// Endpoints and metadata that cannot be read for a while, for example because a data key is missing: events wait and are sent afterwards.
import { expect } from 'chai'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { atRest } from '../../../services/domain/verifications/encryption-context.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import { createWebhookHarness, expectStatus, SECONDS, type WebhookHarness } from '../../support/webhooks.ts'

onEmbeddedStore('an endpoint whose secret does not open for a while', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  let sealed: string
  let reads: number
  beforeEach(async () => {
    store = await fresh()
    reads = 0
    harness = await createWebhookHarness(countingReads(store))
    sealed = (await harness.endpoint('app_blog')).secrets[0]?.sealed ?? ''
  })
  afterEach(() => harness.stop())

  const countingReads = (counted: CountersignStore): CountersignStore =>
    overrideDocs(counted, 'webhooks', ({ get }) => ({
      get(ids) {
        // The sweeper asks for the endpoints whose incident goes on, and there are none.
        if (ids.length > 0) reads += 1
        return get(ids)
      },
    }))

  const seal = (secret: string) =>
    store.docs('webhooks').modify({ _id: 'app_blog' }, { $set: { 'secrets.0.sealed': secret } })

  it('gets its events once the secret opens again, without counting attempts, while other endpoints get theirs', async () => {
    harness.respondWith('app_blog', () => 500)
    const tried = await harness.emitEvent('app_blog')
    await harness.settle()
    await seal('not sealed at all')
    harness.respondWith('app_blog', () => 200)
    await harness.passTime(6 * SECONDS)
    const [blog, shop] = await Promise.all([harness.emitEvent('app_blog'), harness.emitEvent('app_shop')])
    await harness.settle()
    await expectStatus(harness, shop, 'delivered')
    await harness.passTime(100 * SECONDS)
    expect(await expectStatus(harness, tried, 'pending')).to.include({ tries: 1 })
    expect(await expectStatus(harness, blog, 'pending')).to.include({ tries: 0 })
    await seal(sealed)
    await harness.passTime(75 * SECONDS)
    expect(await harness.soon(() => expectStatus(harness, tried, 'delivered'))).to.include({ round: 1, tries: 2 })
    expect(await harness.soon(() => expectStatus(harness, blog, 'delivered'))).to.include({ round: 1, tries: 1 })
    expect((await harness.endpoint('app_blog')).status).to.equal('active')
    await harness.passTime(75 * SECONDS)
    expect((await harness.endpoint('app_blog')).drain_at, 'the mark is cleared').to.equal(undefined)
  })

  it('waits in the same way while its company is closed', async () => {
    const company_id = (await store.docs('apps').get(['app_blog'])).get('app_blog')?.company_id ?? ''
    const setClosed = (closed_at: number | null) =>
      store.docs('companies').modify({ _id: company_id }, { $set: { closed_at } })
    await setClosed(1)
    const id = await harness.emitEvent('app_blog')
    await harness.passTime(100 * SECONDS)
    expect(await expectStatus(harness, id, 'pending')).to.include({ tries: 0 })
    expect(harness.calls).to.deep.equal([])
    await setClosed(null)
    await harness.passTime(75 * SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
  })

  it('is read and logged once a minute', async () => {
    await seal('not sealed at all')
    await Promise.all(Array.from({ length: 50 }, () => harness.emitEvent('app_blog')))
    await harness.passTime(70 * SECONDS)
    reads = 0
    const logged = () => harness.log.lines().filter(({ msg }) => msg === 'endpoint.unreadable').length
    const before = logged()
    await harness.passTime(240 * SECONDS)
    expect(reads).to.be.within(2, 8)
    expect(logged() - before).to.be.within(2, 4)
    expect(harness.calls).to.deep.equal([])
  })
})

onEmbeddedStore('an event whose metadata do not open for a while', fresh => {
  let store: CountersignStore
  let harness: WebhookHarness
  beforeEach(async () => {
    store = await fresh()
    harness = await createWebhookHarness(store)
    await store.docs('webhooks').modify({ _id: 'app_shop' }, { $set: { payload: 'full' } })
    const context = { deliveries: [], approval: null, channel: 'sms', recipient: { country: 'US' } }
    await store.docs('otps').insert([{ _id: 'otp_1', rev: 1, outbox: [], context } as unknown as OtpDoc])
  })
  afterEach(() => harness.stop())

  const sealWith = (dataKey: number) =>
    store
      .docs('otps')
      .modify(
        { _id: 'otp_1' },
        { $set: { metadata: testKeyring(dataKey).seal('{"order":"7"}', atRest.metadata('otp_1')) } },
      )
  const metadataIn = (event_id: string) =>
    harness.callsOf(event_id).map(({ body }) => JSON.parse(body).payload.metadata)

  it('waits for its key without counting attempts, while other events of the endpoint are sent', async () => {
    await sealWith(2)
    const id = await harness.emitEvent('app_shop')
    const other = await harness.emitEvent('app_shop', { payload: { otp_id: 'otp_2', status: 'approved' } })
    await harness.passTime(200 * SECONDS)
    await expectStatus(harness, other, 'delivered')
    expect(await expectStatus(harness, id, 'pending')).to.include({ tries: 0, round: 1 })
    expect(harness.callsOf(id)).to.deep.equal([])
    const missing = harness.log.lines().filter(({ msg }) => msg === 'key.missing')
    expect(missing.length).to.be.within(2, 5)
    expect(missing[0]).to.include({ setting: 'DATA_KEYS', key_id: 'd2', event_id: id })
    await sealWith(1)
    await harness.passTime(75 * SECONDS)
    expect(await harness.soon(() => expectStatus(harness, id, 'delivered'))).to.include({ tries: 1, round: 1 })
    expect(metadataIn(id)).to.deep.equal([{ order: '7' }])
  })

  it('is sent without them when their key has been missing for a day, however old it is', async () => {
    await sealWith(2)
    const id = await harness.emitEvent('app_shop')
    await store.docs('events').modify({ _id: id }, { $set: { created_at: 0 } })
    await harness.passTime(200 * SECONDS)
    await expectStatus(harness, id, 'pending')
    expect(harness.callsOf(id)).to.deep.equal([])
    await store.docs('events').modify({ _id: id }, { $set: { unread_since: 0 } })
    await harness.passTime(75 * SECONDS)
    await harness.soon(() => expectStatus(harness, id, 'delivered'))
    await store.docs('otps').modify({ _id: 'otp_1' }, { $set: { metadata: 'sealed with no key' } })
    const other = await harness.emitEvent('app_shop')
    await harness.soon(() => expectStatus(harness, other, 'delivered'))
    expect([metadataIn(id), metadataIn(other)], 'at once where no key would open them').to.deep.equal([
      [undefined],
      [undefined],
    ])
  })
})
