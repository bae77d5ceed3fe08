import { expect } from 'chai'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Provider } from '../../../services/channel/provider.ts'
import { acceptMessage, actorWithProvider, TIMEOUT_MS, UNKNOWN_WAIT_MS } from '../../support/channel-actor.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { promiseState } from '../../support/promise-state.ts'
import { insertOtp, insertUnfinishedAttempt, lastDelivery } from '../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const
/** Members of a provider whose vendor sends receipts. */
const sendsReceipts: Partial<Provider> = { parseCallback: () => [] }

onEmbeddedStore('a call of a provider', fresh => {
  const withProvider = async (send = acceptMessage, more: Partial<Provider> = {}) =>
    actorWithProvider(await fresh(), send, more)

  it('costs the store one write before it and one after it, and no read', async () => {
    const store = await fresh()
    const calls: string[] = []
    const counted = overrideDocs(store, 'attempts', docs => {
      const noted = Object.entries(docs).map(([method, call]: [string, (...args: never[]) => unknown]) => [
        method,
        (...args: never[]) => {
          calls.push(method)
          return call(...args)
        },
      ])
      return Object.fromEntries(noted)
    })
    const actor = await actorWithProvider(counted)
    expect(await actor.deliver(await insertOtp(actor, live))).to.deep.equal({ kind: 'done' })
    expect(calls).to.deep.equal(['insert', 'update'])
  })

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

    it('is made after the wait for a receipt, when the process that made the attempt has died', async () => {
      const actor = await withProvider(acceptMessage, sendsReceipts)
      const doc = await insertOtp(actor, live)
      await insertUnfinishedAttempt(actor, doc, 'gateway')
      await actor.clock.advance(UNKNOWN_WAIT_MS)
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect([actor.sent.length, actor.statuses()]).to.deep.equal([1, ['sent']])
      const { delivery_id } = lastDelivery(doc)
      const attempts = await actor.store.docs('attempts').find({}, { sort: { _id: 1 }, limit: 10 })
      expect(attempts.map(({ _id, call, result }) => [_id, call, result])).to.deep.equal([
        [`${delivery_id}:gateway`, undefined, null],
        [`${delivery_id}:gateway:1:2`, 2, 'accepted'],
      ])
    })

    it('is made at once by the only process, and at a provider that may be called twice, when the process before it has died', async () => {
      for (const [more, options] of [
        [{}, { soleProcess: true }],
        [{ repeatable: true }, {}],
      ] as const) {
        const actor = await actorWithProvider(await fresh(), acceptMessage, more, options)
        const doc = await insertOtp(actor, live)
        await insertUnfinishedAttempt(actor, doc, 'gateway')
        expect(await actor.deliver(doc)).to.deep.equal({ kind: 'done' })
        expect([actor.sent.length, actor.statuses()]).to.deep.equal([1, ['sent']])
      }
    })

    it('is made once by two processes with the same message', async () => {
      const actor = await withProvider()
      const doc = await insertOtp(actor, live)
      const outcomes = await Promise.all([actor.deliver(doc), actor.deliver(doc)])
      expect(actor.sent).to.have.length(1)
      expect(outcomes.map(({ kind }) => kind)).to.include('done')
    })
  })

  describe('when the store does not answer', () => {
    /** An actor whose store loses the next `times` answers to new attempts, after it has stored them. */
    async function withLostAnswers(times: number) {
      const store = await fresh()
      let left = times
      const loseAnswer = async <T>(answer: Promise<T>): Promise<T> => {
        const result = await answer
        if (left === 0) return result
        left -= 1
        throw new Unavailable('no answer')
      }
      const losing = overrideDocs(store, 'attempts', ({ insert }) => ({ insert: docs => loseAnswer(insert(docs)) }))
      return actorWithProvider(losing, acceptMessage, sendsReceipts)
    }

    it('to the attempt, is made by the process that finds its own attempt, at once or when the message comes again', async () => {
      for (const lost of [1, 2]) {
        const actor = await withLostAnswers(lost)
        const doc = await insertOtp(actor, live)
        if (lost === 2) expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
        expect(await actor.deliver(doc, lost)).to.deep.equal({ kind: 'done' })
        expect([actor.sent.length, actor.statuses()]).to.deep.equal([1, ['sent']])
      }
    })

    it('to any attempt, leaves all slots of the provider free', async () => {
      const slots = 64
      const actor = await withLostAnswers(2 * slots)
      const doc = await insertOtp(actor, live)
      for (let nth = 0; nth < slots; nth += 1) expect((await actor.deliver(doc)).kind).to.equal('retry')
      expect(await actor.deliverAndWait(doc)).to.deep.equal({ kind: 'done' })
    })

    it('to the attempt, is made once, by one of two messages that come again at once', async () => {
      const actor = await withLostAnswers(2)
      const doc = await insertOtp(actor, live)
      await actor.deliver(doc)
      await Promise.all([actor.deliver(doc, 2), actor.deliver(doc, 2)])
      expect(actor.sent).to.have.length(1)
    })

    it('to the result, is not repeated by the process that knows the result', async () => {
      const update = () => Promise.reject(new Unavailable('no store'))
      const actor = await actorWithProvider(overrideDocs(await fresh(), 'attempts', () => ({ update })))
      const doc = await insertOtp(actor, live)
      actor.breakBroker(1)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect([actor.sent.length, actor.statuses()]).to.deep.equal([1, ['sent']])
    })
  })

  describe('when the provider does not accept the message', () => {
    it('is aborted after the timeout, and is made once more after the wait for a receipt', async () => {
      let signal: AbortSignal | undefined
      const actor = await withProvider((_, given) => {
        signal = given
        return new Promise(() => {})
      }, sendsReceipts)
      const doc = await insertOtp(actor, live)
      const delivering = actor.deliver(doc)
      const state = promiseState(delivering)
      while (actor.sent.length === 0) await actor.clock.advance(0)
      await actor.clock.advance(TIMEOUT_MS - 1)
      expect([state.state, signal?.aborted]).to.deep.equal(['pending', false])
      await actor.clock.advance(1)
      expect(await delivering).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      expect(signal?.aborted).to.equal(true)
      await actor.clock.advance(UNKNOWN_WAIT_MS)
      const again = actor.deliver(doc, 2)
      while (actor.sent.length === 1) await actor.clock.advance(0)
      await actor.clock.advance(TIMEOUT_MS)
      expect(await again).to.deep.equal({ kind: 'retry', afterMs: 15_000 })
      await actor.clock.advance(UNKNOWN_WAIT_MS)
      expect(await actor.deliver(doc, 3)).to.deep.equal({ kind: 'done' })
      expect([actor.sent.length, actor.statuses()]).to.deep.equal([2, ['failed']])
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
