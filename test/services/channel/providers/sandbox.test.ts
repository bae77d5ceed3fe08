import { expect } from 'chai'
import { magicOf } from '../../../../machines/magic-recipients.ts'
import type { Otp } from '../../../../machines/otp.ts'
import { scriptFor } from '../../../../services/channel/providers/sandbox.scripts.ts'
import { createChannelActor } from '../../../support/channel-actor.ts'
import { codeOf, createTenant, insertOtp, lastDelivery, RECIPIENT } from '../../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const SECOND = 1000

onEmbeddedStore('the sandbox', fresh => {
  let actor: ReturnType<typeof createChannelActor>

  beforeEach(async () => {
    actor = createChannelActor(await fresh())
    await createTenant(actor)
  })

  /** Delivers until the outcome is `done`, and advances the clock as the broker would wait. Resolves with the reports and their times. */
  async function receiptsFor(recipient: string): Promise<[status: string, ms: number][]> {
    const doc = await insertOtp(actor, { recipient, order: recipient.includes('@') ? ['email'] : ['sms'] })
    const startedAt = actor.clock.now()
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await actor.deliverAndWait(doc, attempt)
      if (outcome.kind !== 'retry') {
        expect(outcome).to.deep.equal({ kind: 'done' })
        return actor.reports.map(({ body }) => [body.status, body.at - startedAt])
      }
      await actor.applyReports()
      await actor.clock.advance(Math.min(outcome.afterMs, 15 * SECOND))
    }
  }
  const statuses = async (recipient: string) => (await receiptsFor(recipient)).map(([status]) => status)

  it('stores a reference to the message, without its code, text or recipient', async () => {
    const doc = await insertOtp(actor)
    await actor.deliverAndWait(doc)
    const { delivery_id } = lastDelivery(doc)
    const message = (await actor.store.docs('sandbox_messages').get([delivery_id])).get(delivery_id)
    expect(message).to.include({
      otp_id: doc._id,
      app_id: 'app_shop',
      company_id: 'cmp_acme',
      generation: 1,
      locale: 'en',
    })
    expect(message?.purge_at).to.deep.equal(doc.purge_at)
    const everything = JSON.stringify([message, actor.reports, actor.log.lines()])
    for (const secret of [codeOf(actor, doc), RECIPIENT, RECIPIENT.slice(1)]) expect(everything).not.to.include(secret)
  })

  it('plays the receipt of an ordinary message within a second after it was sent', async () => {
    const [sent, receipt] = await receiptsFor(RECIPIENT)
    expect([sent?.[0], receipt?.[0]]).to.deep.equal(['sent', 'delivered'])
    expect(receipt?.[1])
      .to.be.greaterThan(sent?.[1] ?? 0)
      .and.lessThan(SECOND)
  })

  it('plays the receipts of each magic recipient', async () => {
    for (const [recipient, expected] of [
      ['+15005550010', ['sent', 'delivered']],
      ['delivered@magic.test', ['sent', 'delivered']],
      ['failed@magic.test', ['sent', 'failed']],
      ['+15005550013', ['sent', 'delivered', 'delivered']],
      ['+15005550014', ['delivered', 'sent', 'failed']],
      ['+15005550015', ['sent']],
    ] as const) {
      actor.reports.length = 0
      expect(await statuses(recipient), recipient).to.deep.equal(expected)
      expect(new Set(actor.reports.map(({ id }) => id)), 'twice is two reports').to.have.property(
        'size',
        expected.length,
      )
    }
  })

  it('plays a late receipt after 30 s, and returns the message to the broker until then', async () => {
    const doc = await insertOtp(actor, { recipient: '+15005550012' })
    expect(await actor.deliverAndWait(doc)).to.deep.equal({ kind: 'retry', afterMs: 30 * SECOND })
    actor.reports.length = 0
    const [again, late] = await receiptsFor('+15005550012')
    expect([again?.[0], late?.[0]]).to.deep.equal(['sent', 'delivered'])
    expect(late?.[1]).to.be.within(30 * SECOND, 31 * SECOND)
  })

  it('plays the receipt after a crash', async () => {
    const doc = await insertOtp(actor)
    void actor.deliver(doc) // its clock does not advance, so it never gets beyond `sent`
    while (actor.reports.length === 0) await actor.clock.advance(0)
    await actor.applyReports()
    const survivor = createChannelActor(actor.store)
    expect(await survivor.deliverAndWait(doc)).to.deep.equal({ kind: 'done' })
    expect([actor.statuses(), survivor.statuses()]).to.deep.equal([['sent'], ['delivered']])
    expect(await actor.store.docs('attempts').count({ _id: { $gt: '' } })).to.equal(1)
  })

  it('repeats a receipt under the same id', async () => {
    const doc = await insertOtp(actor)
    await actor.deliverAndWait(doc)
    const before = actor.reports.map(({ id }) => id)
    await actor.applyReports()
    await actor.deliverAndWait(doc)
    expect(actor.reports.map(({ id }) => id)).to.deep.equal([...before, before[1]])
  })

  it('knows magic recipients for test keys only', () => {
    const doc = { mode: 'live', deliveries: [] } as unknown as Otp
    const delivery = { channel: 'sms' } as Otp['deliveries'][number]
    expect(magicOf('test', '+15005550011')).to.deep.equal({ scenario: 'failed' })
    expect(scriptFor('+15005550011', doc, delivery).receipts.map(({ status }) => status)).to.deep.equal(['delivered'])
  })
})
