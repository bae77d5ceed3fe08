import { expect } from 'chai'
import { type Provider, RecipientFault } from '../../../services/channel/provider.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { actorWithProvider, replaced, TIMEOUT_MS, takes, UNKNOWN_WAIT_MS } from '../../support/channel.ts'
import { lastDelivery, stored, type World } from '../../support/deliveries.ts'
import { follow } from '../../support/follow.ts'
import { cancel, play } from '../../support/otp.ts'
import { eachStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const
/** A vendor that sends receipts. */
const hears: Partial<Provider> = { hear: () => [] }

/** Somebody called the provider, and was not heard of again. */
const claimed = ({ store, clock }: World, doc: OtpDoc) =>
  store.docs('attempts').insert([
    {
      ...{ _id: `${lastDelivery(doc).delivery_id}:gateway`, otp_id: doc._id, app_id: doc.app_id, rev: 1 },
      ...{ delivery_id: lastDelivery(doc).delivery_id, provider: 'gateway', round: 1 },
      ...{ at: clock.now(), result: null, reference: null, purge_at: doc.purge_at },
    },
  ])

eachStore('a channel actor', fresh => {
  const withProvider = async (send = takes, more: Partial<Provider> = {}) =>
    actorWithProvider(await fresh(), send, more)

  describe('when the message comes again', () => {
    it('calls nobody after the delivery has moved on', async () => {
      const actor = await withProvider()
      const doc = await stored(actor, live)
      await actor.deliver(doc)
      await actor.applyTold()
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
      expect(actor.statuses()).to.deep.equal(['sent'])
    })

    it('tells again what nobody heard, without calling again', async () => {
      const actor = await withProvider()
      const doc = await stored(actor, live)
      actor.breakBroker(1)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 1000 })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
      expect(actor.statuses()).to.deep.equal(['sent'])
    })

    it('does not call a second time when nobody knows what came of the first call', async () => {
      const actor = await withProvider(takes, hears)
      const doc = await stored(actor, live)
      await claimed(actor, doc)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      expect([actor.sent, actor.told]).to.deep.equal([[], []])
    })

    it('leaves a call alone that another process may still be making', async () => {
      const actor = await withProvider()
      const doc = await stored(actor, live)
      await claimed(actor, doc)
      await actor.clock.advance(TIMEOUT_MS)
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
      expect([actor.sent, actor.told]).to.deep.equal([[], []])
    })

    it('does call again a provider for which twice is once', async () => {
      const actor = await withProvider(takes, { repeatable: true })
      const doc = await stored(actor, live)
      await claimed(actor, doc)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
      expect(actor.statuses()).to.deep.equal(['sent'])
    })

    it('does not call failed what a provider took before the verification ended', async () => {
      const actor = await withProvider()
      const doc = await stored(actor, live)
      actor.breakBroker(1)
      await actor.deliver(doc)
      await replaced(actor.store, { ...doc, ...play(doc, cancel()).saved })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect(actor.statuses()).to.deep.equal(['sent'])
      expect(actor.sent).to.have.length(1)
    })

    it('lets two processes with the same message make one call', async () => {
      const actor = await withProvider()
      const doc = await stored(actor, live)
      const outcomes = await Promise.all([actor.deliver(doc), actor.deliver(doc)])
      expect(actor.sent).to.have.length(1)
      expect(outcomes.map(({ kind }) => kind)).to.include('done')
    })
  })

  describe('when the provider does not take it', () => {
    it('tells at once that it failed when it is the recipient’s fault', async () => {
      const actor = await withProvider(async () => {
        throw new RecipientFault('unknown subscriber')
      })
      const doc = await stored(actor, live)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.statuses()).to.deep.equal(['failed'])
      const [line] = actor.log.lines().filter(({ msg }) => msg === 'delivery.attempted')
      expect(line).to.include({ outcome: 'refused' })
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
    })

    it('gives up waiting for one that hangs, aborts the call, and waits for a receipt before it calls it failed', async () => {
      let signal: AbortSignal | undefined
      const actor = await withProvider((_, given) => {
        signal = given
        return new Promise(() => {})
      }, hears)
      const doc = await stored(actor, live)
      const begun = actor.clock.now()
      const delivering = actor.deliver(doc)
      const state = follow(delivering)
      while (actor.sent.length === 0) await actor.clock.advance(0)
      await actor.clock.advance(TIMEOUT_MS - 1)
      expect([state.state, signal?.aborted]).to.deep.equal(['pending', false])
      await actor.clock.advance(1)
      expect(await delivering).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      expect(signal?.aborted).to.equal(true)
      await actor.clock.advance(begun + UNKNOWN_WAIT_MS - 1 - actor.clock.now())
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'retry', afterMs: 1 })
      expect(actor.told).to.deep.equal([])

      await actor.clock.advance(1)
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect(actor.statuses()).to.deep.equal(['failed'])
      expect(actor.sent).to.have.length(1)
    })

    it('does not take a bug for a fault', async () => {
      const actor = await withProvider(async () => {
        throw new TypeError('undefined is not a function')
      })
      const doc = await stored(actor, live)
      const ended = await actor.deliver(doc).catch(error => error)
      expect(ended).to.be.instanceOf(TypeError)
      expect(actor.told).to.deep.equal([])
    })
  })
})
