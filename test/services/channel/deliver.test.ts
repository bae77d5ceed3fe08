import { expect } from 'chai'
import { providerContext } from '../../../services/domain/tenancy/documents.ts'
import { TENANT_CACHE } from '../../../services/domain/tenancy/tenancy.ts'
import { acceptMessage, actorWithProvider, createChannelActor, replaceOtp } from '../../support/channel-actor.ts'
import { codeOf, createTenant, insertOtp, lastDelivery, RECIPIENT } from '../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { withStaleReads } from '../../support/tenancy.ts'

const live = { mode: 'live' } as const
const SPARE = JSON.stringify({ url: 'https://spare.example/' })

onEmbeddedStore('the channel actor', fresh => {
  const withProvider = async (send = acceptMessage) => actorWithProvider(await fresh(), send)

  it('gives the provider the code, the recipient and the text, and reports that the message was sent', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, { ...live, locale: 'fr-CA' })
    expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
    const code = codeOf(actor, doc)
    expect(actor.sent.map(({ job: _, ...message }) => message)).to.deep.equal([
      {
        delivery_id: lastDelivery(doc).delivery_id,
        expires_at: doc.context.expires_at,
        recipient: RECIPIENT,
        code,
        locale: 'fr',
        requested_locale: 'fr-CA',
        subject: null,
        html: null,
        text: `${code} est votre code de vérification Shop.`,
      },
    ])
    const { delivery_id } = lastDelivery(doc)
    const report = { type: 'delivery.reported', otp_id: doc._id, delivery_id, status: 'sent', provider: 'gateway' }
    const body = { ...report, at: actor.clock.now() }
    expect(actor.reports).to.deep.equal([{ id: `${delivery_id}:sent`, body }])
  })

  it('saves an attempt before it calls and the result after it, and writes one log line', async () => {
    const saved = async (id: string) => (await actor.store.docs('attempts').get([id])).get(id)
    const actor = await withProvider(async ({ job }) => {
      expect(await saved(`${job.delivery.delivery_id}:gateway`)).to.include({
        otp_id: job.otp.otp_id,
        provider: 'gateway',
        result: null,
      })
      return { reference: 'v-1' }
    })
    const doc = await insertOtp(actor, live)
    await actor.deliver(doc)
    const { delivery_id } = lastDelivery(doc)
    const attempt = await saved(`${delivery_id}:gateway`)
    expect(attempt).to.include({ result: 'accepted', reference: 'v-1' })
    expect(attempt?.purge_at).to.deep.equal(doc.purge_at)
    const lines = actor.log.lines().filter(({ msg }) => msg === 'delivery.attempted')
    expect(lines).to.have.length(1)
    const call = { channel: 'sms', provider: 'gateway', round: 1, outcome: 'accepted', ms: 0 }
    expect(lines[0]).to.include({ otp_id: doc._id, delivery_id, ...call })
  })

  it('waits while an encryption key is missing, and sends once it is back', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, live)
    const { sealed } = doc.context.recipient
    const seal = (text: string) =>
      actor.store.docs('otps').modify({ _id: doc._id }, { $set: { 'context.recipient.sealed': text } })
    await seal(sealed.replace('v1.d1.', 'v1.gone.'))
    for (const attempt of [1, 2]) {
      expect(await actor.deliver(doc, attempt)).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      expect([actor.sent, actor.reports]).to.deep.equal([[], []])
    }
    const lines = actor.log.lines().filter(({ msg }) => msg === 'key.missing')
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include({ setting: 'DATA_KEYS', key_id: 'gone', otp_id: doc._id })
    await seal(sealed)
    expect(await actor.deliver(doc, 3)).to.deep.equal({ kind: 'done' })
    expect(actor.statuses()).to.deep.equal(['sent'])
  })

  it('reports that the delivery failed when the key is still missing at the end of the verification', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, live)
    await actor.store.docs('otps').modify({ _id: doc._id }, { $set: { 'context.code.salt': 'v1.gone.AAAA' } })
    expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
    await actor.clock.advance(doc.context.expires_at - actor.clock.now())
    expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
    expect(actor.statuses()).to.deep.equal(['failed'])
  })

  it('waits while no provider’s config can be decrypted, and sends when one can', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, live)
    const providers = actor.store.docs('providers')
    const [gateway] = await providers.find({}, { sort: { _id: 1 }, limit: 1 })
    await providers.modify({ _id: gateway?._id ?? '' }, { $set: { config: 'v1.gone.AAAA' } })
    expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
    expect(actor.reports).to.deep.equal([])
    const _id = `${gateway?.app_id}:spare`
    const spare = { _id, name: 'spare', position: 2, config: actor.keyring.seal(SPARE, providerContext(_id)) }
    if (gateway) await providers.insert([{ ...gateway, ...spare }])
    await actor.clock.advance(5_000)
    expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
    expect(actor.statuses()).to.deep.equal(['sent'])
  })

  it('does nothing for a verification that was erased', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, live)
    await actor.store.docs('otps').remove({ _id: doc._id }, 1)
    expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
    expect([actor.sent, actor.reports]).to.deep.equal([[], []])
  })

  it('sends a verification that a store which answers from the past does not find', async () => {
    const actor = await actorWithProvider(withStaleReads(await fresh()), acceptMessage)
    const doc = await insertOtp(actor, live)
    expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
    expect(actor.statuses()).to.deep.equal(['sent'])
  })

  it('dead-letters a message whose verification has no such delivery', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, live)
    await replaceOtp(actor.store, { ...doc, context: { ...doc.context, deliveries: [] } })
    expect((await actor.deliver(doc)).kind).to.equal('dead')
  })

  it('sends nothing once the code has expired by the clock, even if the stored verification is still pending', async () => {
    const actor = await withProvider()
    const doc = await insertOtp(actor, live)
    await actor.clock.advance(doc.context.expires_at - actor.clock.now() - 1)
    await actor.deliver(doc)
    expect(actor.sent).to.have.length(1)
    const late = await insertOtp(actor, live)
    await actor.clock.advance(late.context.expires_at - actor.clock.now())
    await actor.deliver(late)
    expect(actor.sent).to.have.length(1)
    expect(actor.statuses()).to.deep.equal(['sent', 'failed'])
  })

  describe('when it chooses a provider', () => {
    it('keeps a provider, its connections and its breaker, while it is paused and after it is resumed', async () => {
      const events: string[] = []
      const actor = createChannelActor(await fresh(), {
        http: ({ name }) => {
          events.push(`built ${name}`)
          return {
            async send() {
              events.push(`sent by ${name}`)
              return { reference: null }
            },
            close: () => void events.push(`closed ${name}`),
          }
        },
      })
      const gateway = (name: string) => ({ name, channel: 'sms', type: 'http', config: { url: 'https://a.example/' } })
      await createTenant(actor, { providers: [gateway('first'), gateway('second')] })
      for (const paused of [false, true, false]) {
        await actor.store.docs('providers').modify({ _id: 'app_shop:first' }, { $set: { paused } })
        await actor.clock.advance(TENANT_CACHE.ttlMs)
        await actor.deliver(await insertOtp(actor, live))
      }
      expect(events).to.deep.equal(['built first', 'built second', 'sent by first', 'sent by second', 'sent by first'])
    })
  })
})
