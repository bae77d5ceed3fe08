import { expect } from 'chai'
import { type Provider, RecipientFault } from '../../../services/channel/provider.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import {
  acceptMessage,
  actorWithProvider,
  replaceOtp,
  TIMEOUT_MS,
  UNKNOWN_WAIT_MS,
} from '../../support/channel-actor.ts'
import { cancel, play } from '../../support/otp.ts'
import { promiseState } from '../../support/promise-state.ts'
import { insertOtp, lastDelivery, type StoreContext } from '../../support/queued-otps.ts'
import { eachStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const
/** Members of a provider whose vendor sends receipts. */
const sendsReceipts: Partial<Provider> = { parseCallback: () => [] }

/** As if a process had called the provider and died before it saved the result. */
const insertUnfinishedAttempt = ({ store, clock }: StoreContext, doc: OtpDoc) =>
  store.docs('attempts').insert([
    {
      _id: `${lastDelivery(doc).delivery_id}:gateway`,
      otp_id: doc._id,
      app_id: doc.app_id,
      rev: 1,
      delivery_id: lastDelivery(doc).delivery_id,
      provider: 'gateway',
      round: 1,
      at: clock.now(),
      result: null,
      reference: null,
      purge_at: doc.purge_at,
    },
  ])

eachStore('a call of a provider', fresh => {
  const withProvider = async (send = acceptMessage, more: Partial<Provider> = {}) =>
    actorWithProvider(await fresh(), send, more)

  describe('when the broker delivers the message again', () => {
    it('is not repeated once the delivery is no longer queued', async () => {
      const actor = await withProvider()
      const doc = await insertOtp(actor, live)
      await actor.deliver(doc)
      await actor.applyReports()
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
      expect(actor.statuses()).to.deep.equal(['sent'])
    })

    it('is not repeated when only its report could not be published', async () => {
      const actor = await withProvider()
      const doc = await insertOtp(actor, live)
      actor.breakBroker(1)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 1000 })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
      expect(actor.statuses()).to.deep.equal(['sent'])
    })

    it('is not repeated while the outcome of the first call is unknown', async () => {
      const actor = await withProvider(acceptMessage, sendsReceipts)
      const doc = await insertOtp(actor, live)
      await insertUnfinishedAttempt(actor, doc)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      expect([actor.sent, actor.reports]).to.deep.equal([[], []])
    })

    it('is not made while another process may still be making it', async () => {
      const actor = await withProvider()
      const doc = await insertOtp(actor, live)
      await insertUnfinishedAttempt(actor, doc)
      await actor.clock.advance(TIMEOUT_MS)
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
      expect([actor.sent, actor.reports]).to.deep.equal([[], []])
    })

    it('is repeated at a provider that may be called twice', async () => {
      const actor = await withProvider(acceptMessage, { repeatable: true })
      const doc = await insertOtp(actor, live)
      await insertUnfinishedAttempt(actor, doc)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
      expect(actor.statuses()).to.deep.equal(['sent'])
    })

    it('counts as sent when the provider accepted it before the verification ended', async () => {
      const actor = await withProvider()
      const doc = await insertOtp(actor, live)
      actor.breakBroker(1)
      await actor.deliver(doc)
      await replaceOtp(actor.store, { ...doc, ...play(doc, cancel()).saved })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect(actor.statuses()).to.deep.equal(['sent'])
      expect(actor.sent).to.have.length(1)
    })

    it('is made once by two processes with the same message', async () => {
      const actor = await withProvider()
      const doc = await insertOtp(actor, live)
      const outcomes = await Promise.all([actor.deliver(doc), actor.deliver(doc)])
      expect(actor.sent).to.have.length(1)
      expect(outcomes.map(({ kind }) => kind)).to.include('done')
    })
  })

  describe('when the provider does not accept the message', () => {
    it('fails the delivery at once for a fault of the recipient', async () => {
      const actor = await withProvider(async () => {
        throw new RecipientFault('unknown subscriber')
      })
      const doc = await insertOtp(actor, live)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.statuses()).to.deep.equal(['failed'])
      const [line] = actor.log.lines().filter(({ msg }) => msg === 'delivery.attempted')
      expect(line).to.include({ outcome: 'refused' })
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
      expect(actor.sent).to.have.length(1)
    })

    it('is aborted after the timeout, and fails the delivery only after the wait for a receipt', async () => {
      let signal: AbortSignal | undefined
      const actor = await withProvider((_, given) => {
        signal = given
        return new Promise(() => {})
      }, sendsReceipts)
      const doc = await insertOtp(actor, live)
      const begun = actor.clock.now()
      const delivering = actor.deliver(doc)
      const state = promiseState(delivering)
      while (actor.sent.length === 0) await actor.clock.advance(0)
      await actor.clock.advance(TIMEOUT_MS - 1)
      expect([state.state, signal?.aborted]).to.deep.equal(['pending', false])
      await actor.clock.advance(1)
      expect(await delivering).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      expect(signal?.aborted).to.equal(true)
      await actor.clock.advance(begun + UNKNOWN_WAIT_MS - 1 - actor.clock.now())
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'retry', afterMs: 1 })
      expect(actor.reports).to.deep.equal([])

      await actor.clock.advance(1)
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect(actor.statuses()).to.deep.equal(['failed'])
      expect(actor.sent).to.have.length(1)
    })

    it('passes a bug on and does not take it for a fault', async () => {
      const actor = await withProvider(async () => {
        throw new TypeError('undefined is not a function')
      })
      const doc = await insertOtp(actor, live)
      const ended = await actor.deliver(doc).catch(error => error)
      expect(ended).to.be.instanceOf(TypeError)
      expect(actor.reports).to.deep.equal([])
    })
  })
})
