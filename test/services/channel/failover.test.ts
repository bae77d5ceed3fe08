import { expect } from 'chai'
import type { Outcome } from '../../../infra/broker/broker.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { type Provider, ProviderFault, RecipientFault, UnknownOutcome } from '../../../services/channel/provider.ts'
import type { COLLECTIONS, CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import {
  actorWithProvider,
  BACKOFF,
  createChannelActor,
  replaceOtp,
  UNDER_WAY_MS,
  UNKNOWN_WAIT_MS,
} from '../../support/channel-actor.ts'
import { cancel, play } from '../../support/otp.ts'
import { createTenant, insertOtp } from '../../support/queued-otps.ts'
import { eachStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const

type SendBehavior = () => Promise<{ reference: string | null }>
const takes: SendBehavior = async () => ({ reference: 'v-1' })
const fails =
  (retryAfterMs: number | null = null): SendBehavior =>
  () =>
    Promise.reject(new ProviderFault('503', { retryAfterMs }))
const loses: SendBehavior = () => Promise.reject(new UnknownOutcome('cut off'))
const refuses: SendBehavior = () => Promise.reject(new RecipientFault('no such number'))

/** An app with two providers, `first` and `second`, which do as told; `calls` says who was called. */
async function actorWithTwoProviders(store: CountersignStore, more: Partial<Provider> = { parseCallback: () => [] }) {
  const calls: string[] = []
  const behaviors: Record<string, SendBehavior> = { first: takes, second: takes }
  const actor = createChannelActor(store, {
    http: ({ name }) => ({
      async send() {
        calls.push(name)
        return (behaviors[name] ?? takes)()
      },
      ...more,
    }),
  })
  const providers = ['first', 'second'].map(name => ({
    name,
    channel: 'sms',
    type: 'http',
    config: { url: `https://${name}.example/` },
  }))
  await createTenant(actor, { providers })
  return {
    ...actor,
    calls,
    behaviors,
    /** Delivers as the broker would, until it is done; answers how long that took. */
    async delivered(doc: OtpDoc): Promise<number> {
      const begun = actor.clock.now()
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await actor.deliver(doc, attempt)
        await actor.applyReports()
        if (outcome.kind !== 'retry') return actor.clock.now() - begun
        await actor.clock.advance(delay(outcome))
      }
    },
    async fresh(): Promise<OtpDoc> {
      return insertOtp(actor, live)
    },
  }
}

/** As the broker keeps it. */
const delay = (outcome: Outcome & { kind: 'retry' }): number =>
  BACKOFF.find(one => one >= outcome.afterMs) ?? Math.max(...BACKOFF)

eachStore('failover', fresh => {
  it('asks the next provider at once when one fails', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    actor.behaviors.first = fails()
    expect(await actor.delivered(await actor.fresh())).to.equal(0)
    expect([actor.calls, actor.statuses()]).to.deep.equal([['first', 'second'], ['sent']])
  })

  it('asks nobody else when the recipient is at fault', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    actor.behaviors.first = refuses
    await actor.delivered(await actor.fresh())
    expect([actor.calls, actor.statuses()]).to.deep.equal([['first'], ['failed']])
  })

  it('goes round four times when nobody takes it, then fails', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    Object.assign(actor.behaviors, { first: fails(), second: fails() })
    expect(await actor.delivered(await actor.fresh())).to.equal(21_000)
    expect(actor.calls).to.deep.equal(Array(4).fill(['first', 'second']).flat())
    expect(actor.statuses()).to.deep.equal(['failed'])
  })

  it('goes on in the round where a process left off, whatever the broker counts', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    Object.assign(actor.behaviors, { first: fails(), second: fails() })
    const doc = await actor.fresh()
    expect(await actor.deliver(doc, 1)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
    await actor.clock.advance(1_000)
    // The same message, handed over again as if for the first time.
    expect(await actor.deliver(doc, 1)).to.deep.equal({ kind: 'retry', afterMs: 5_000 })
    expect(actor.calls).to.have.length(4)
    expect(await actor.deliver(doc, 1), 'woken early').to.deep.equal({ kind: 'retry', afterMs: 5_000 })
    expect(actor.calls).to.have.length(4)
  })

  it('is sent in a later round by whoever is back', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    Object.assign(actor.behaviors, { first: fails(), second: fails() })
    const doc = await actor.fresh()
    await actor.deliver(doc)
    actor.behaviors.first = takes
    await actor.clock.advance(1_000)
    expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
    expect([actor.calls, actor.statuses()]).to.deep.equal([['first', 'second', 'first'], ['sent']])
  })

  it('looks at the verification again before every call', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    const doc = await actor.fresh()
    actor.behaviors.first = async () => {
      await replaceOtp(actor.store, { ...doc, ...play(doc, cancel()).saved })
      return fails()()
    }
    await actor.delivered(doc)
    expect([actor.calls, actor.statuses()]).to.deep.equal([['first'], ['failed']])
  })

  describe('after an outcome nobody knows', () => {
    it('waits for a receipt before it hands over, and never asks the same provider again', async () => {
      const actor = await actorWithTwoProviders(await fresh())
      Object.assign(actor.behaviors, { first: loses, second: fails() })
      expect(await actor.delivered(await actor.fresh())).to.equal(UNKNOWN_WAIT_MS + 21_000)
      expect(actor.calls).to.deep.equal(['first', 'second', 'second', 'second', 'second'])
    })

    it('is done when the receipt comes meanwhile', async () => {
      const actor = await actorWithTwoProviders(await fresh())
      actor.behaviors.first = loses
      const doc = await actor.fresh()
      expect((await actor.deliver(doc)).kind).to.equal('retry')
      const deliveries = doc.context.deliveries.map(one => ({ ...one, status: 'delivered' as const }))
      await replaceOtp(actor.store, { ...doc, context: { ...doc.context, deliveries } })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect([actor.calls, actor.reports]).to.deep.equal([['first'], []])
    })

    it('hands over at once where no receipts come', async () => {
      const actor = await actorWithTwoProviders(await fresh(), {})
      actor.behaviors.first = loses
      expect(await actor.delivered(await actor.fresh())).to.equal(0)
      expect([actor.calls, actor.statuses()]).to.deep.equal([['first', 'second'], ['sent']])
    })

    it('lets another process finish its call before it asks the next provider', async () => {
      const actor = await actorWithTwoProviders(await fresh(), {})
      let finish: (reference: { reference: null }) => void = () => {}
      actor.behaviors.first = () => new Promise(resolve => (finish = resolve))
      const doc = await actor.fresh()
      const underWay = actor.deliver(doc)
      while (actor.calls.length === 0) await actor.clock.advance(0)
      expect((await actor.deliver(doc)).kind).to.equal('retry')
      await actor.clock.advance(UNDER_WAY_MS / 2)
      expect((await actor.deliver(doc, 2)).kind).to.equal('retry')
      finish({ reference: null })
      expect(await underWay).to.deep.equal({ kind: 'done' })
      expect([actor.calls, actor.statuses()]).to.deep.equal([['first'], ['sent']])
    })

    it('is none of those when only the store cannot write it down: it is told as sent', async () => {
      const store = await fresh()
      const attempts = {
        ...store.docs('attempts'),
        update: () => Promise.reject(new Unavailable('no store')),
      }
      const docs = ((name: keyof typeof COLLECTIONS) =>
        name === 'attempts' ? attempts : store.docs(name)) as CountersignStore['docs']
      const actor = await actorWithTwoProviders({ ...store, docs })
      expect(await actor.deliver(await actor.fresh())).to.deep.equal({ kind: 'done' })
      expect([actor.calls, actor.statuses()]).to.deep.equal([['first'], ['sent']])
    })
  })

  describe('a provider that keeps failing', () => {
    /** Ten messages that the first provider failed and the second took. */
    const broken = async () => {
      const actor = await actorWithTwoProviders(await fresh())
      actor.behaviors.first = fails()
      for (let nth = 0; nth < 10; nth += 1) await actor.delivered(await actor.fresh())
      actor.calls.length = 0
      return actor
    }

    it('is left alone, and the next one has the messages', async () => {
      const actor = await broken()
      for (let nth = 0; nth < 5; nth += 1) await actor.delivered(await actor.fresh())
      expect(actor.calls).to.deep.equal(Array(5).fill('second'))
    })

    it('is probed with one message now and then, which is handed over in turn', async () => {
      const actor = await broken()
      await actor.clock.advance(30_000)
      for (let nth = 0; nth < 3; nth += 1) await actor.delivered(await actor.fresh())
      expect(actor.calls).to.deep.equal(['first', 'second', 'second', 'second'])
      actor.behaviors.first = takes
      await actor.clock.advance(30_000)
      actor.calls.length = 0
      for (let nth = 0; nth < 3; nth += 1) await actor.delivered(await actor.fresh())
      expect(actor.calls).to.deep.equal(Array(3).fill('first'))
    })

    it('is not passed over for a message it may have sent', async () => {
      const actor = await broken()
      const doc = await actor.fresh()
      const { delivery_id } = doc.context.deliveries[0] ?? { delivery_id: '' }
      await actor.store.docs('attempts').insert([
        {
          _id: `${delivery_id}:first`,
          delivery_id,
          otp_id: doc._id,
          app_id: doc.app_id,
          provider: 'first',
          round: 1,
          at: actor.clock.now(),
          result: null,
          reference: null,
          purge_at: doc.purge_at,
          rev: 1,
        },
      ])
      expect((await actor.deliver(doc)).kind).to.equal('retry')
      expect(actor.calls).to.deep.equal([])
    })

    it('ends in failure when there is no other, after as many rounds, without a call', async () => {
      const actor = await broken()
      actor.behaviors.second = fails()
      for (let nth = 0; nth < 10; nth += 1) await actor.deliver(await actor.fresh())
      actor.calls.length = 0
      expect(await actor.delivered(await actor.fresh())).to.equal(21_000)
      expect([actor.calls, actor.statuses().at(-1)]).to.deep.equal([[], 'failed'])
    })

    it('is left alone for as long as it asks', async () => {
      const actor = await actorWithTwoProviders(await fresh())
      actor.behaviors.first = fails(10_000)
      await actor.delivered(await actor.fresh())
      await actor.delivered(await actor.fresh())
      expect(actor.calls).to.deep.equal(['first', 'second', 'second'])
      await actor.clock.advance(10_000)
      actor.behaviors.first = takes
      await actor.delivered(await actor.fresh())
      expect(actor.calls.at(-1)).to.equal('first')
    })
  })

  it('gives back what is too much for one provider that hangs, at no cost', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    const release: (() => void)[] = []
    actor.behaviors.first = () => new Promise(resolve => release.push(() => resolve({ reference: null })))
    const docs = await Promise.all(Array.from({ length: 70 }, () => actor.fresh()))
    const inside = docs.slice(0, 64).map(doc => actor.deliver(doc))
    while (release.length < 64) await actor.clock.advance(0)
    await actor.clock.advance(7_000)
    const over = await Promise.all(docs.slice(64).map(doc => actor.deliver(doc)))
    // The slower it is, the later it is asked again.
    expect(over).to.deep.equal(Array(6).fill({ kind: 'retry', afterMs: 5_000 }))
    for (const answer of release) answer()
    expect((await Promise.all(inside)).map(({ kind }) => kind)).to.deep.equal(Array(64).fill('done'))
    expect(await actor.store.docs('attempts').count({ _id: { $gt: '' } })).to.equal(64)
    expect(new Set(actor.calls)).to.deep.equal(new Set(['first']))
  })

  it('does not even look up what its only provider is too busy for', async () => {
    const actor = await actorWithProvider(await fresh(), () => new Promise(() => {}))
    const docs = await Promise.all(Array.from({ length: 65 }, () => insertOtp(actor, live)))
    const inside = docs.slice(0, 64).map(doc => actor.deliver(doc))
    while (actor.sent.length < 64) await actor.clock.advance(0)
    await actor.clock.advance(7_000)
    const over = docs[64] as OtpDoc
    await actor.store.docs('otps').remove({ _id: over._id }, 1)
    expect(await actor.deliver(over)).to.deep.equal({ kind: 'retry', afterMs: 5_000 })
    await actor.clock.advance(1_000)
    await Promise.all(inside)
    expect(await actor.deliver(over), 'looked up, and gone').to.deep.equal({ kind: 'done' })
  })
})
