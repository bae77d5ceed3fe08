import { expect } from 'chai'
import type { Outcome } from '../../../infra/broker/broker.ts'
import { type Provider, ProviderFault, UnknownOutcome } from '../../../services/channel/provider.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { TENANT_CACHE } from '../../../services/domain/tenancy/tenancy.ts'
import { findAttempts, type OtpDoc } from '../../../services/domain/verifications/documents.ts'
import {
  BACKOFF,
  type ChannelActorOptions,
  createChannelActor,
  REDELIVERED_UNDER_WAY_MS,
  replaceOtp,
  TIMEOUT_MS,
  UNDER_WAY_MS,
} from '../../support/channel-actor.ts'
import { cancel, play } from '../../support/otp.ts'
import { createTenant, insertOtp, insertUnfinishedAttempt } from '../../support/queued-otps.ts'
import { storeFacts } from '../../support/route-facts.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const

type SendBehavior = () => Promise<{ reference: string | null }>
const accept: SendBehavior = async () => ({ reference: 'v-1' })
const fail =
  (retryAfterMs: number | null = null): SendBehavior =>
  () =>
    Promise.reject(new ProviderFault('503', { retryAfterMs }))
const loseAnswer: SendBehavior = () => Promise.reject(new UnknownOutcome('cut off'))

/** A channel actor whose providers send as `behaviors` says. `calls` lists the providers called. */
function createTwoProviderActor(store: CountersignStore, more: Partial<Provider>, options: ChannelActorOptions = {}) {
  const calls: string[] = []
  const behaviors: Record<string, SendBehavior> = { first: accept, second: accept }
  const http = ({ name }: { name: string }): Provider => ({
    async send() {
      calls.push(name)
      return (behaviors[name] ?? accept)()
    },
    ...more,
  })
  return { ...createChannelActor(store, { http }, options), calls, behaviors }
}

/** Such an actor, and an app with two providers, `first` and `second`. */
async function actorWithTwoProviders(store: CountersignStore, more: Partial<Provider> = { parseCallback: () => [] }) {
  const actor = createTwoProviderActor(store, more)
  const providers = ['first', 'second'].map(name => ({
    name,
    channel: 'sms',
    type: 'http',
    config: { url: `https://${name}.example/` },
  }))
  await createTenant(actor, { providers })
  return {
    ...actor,
    /** Delivers as often as the broker would, until it is done; resolves with how long that took. */
    async deliverUntilDone(doc: OtpDoc): Promise<number> {
      const startedAt = actor.clock.now()
      for (let attempt = 1; ; attempt += 1) {
        const outcome = await actor.deliver(doc, attempt)
        await actor.applyReports()
        if (outcome.kind !== 'retry') return actor.clock.now() - startedAt
        await actor.clock.advance(brokerDelay(outcome))
      }
    },
    insertLiveOtp: (): Promise<OtpDoc> => insertOtp(actor, live),
  }
}

/** The wait queue that the broker chooses for a retry. */
const brokerDelay = (outcome: Outcome & { kind: 'retry' }): number =>
  BACKOFF.find(one => one >= outcome.afterMs) ?? Math.max(...BACKOFF)

/** The first provider of the verification's country delivered none of 60 messages, and is silent since then. */
const SILENT = { provider: 'first', messages: 60, delivered: 0 } as const
const insertFacts = (store: CountersignStore, { app_id, context: { recipient } }: OtpDoc, since?: number) =>
  storeFacts(store, app_id, 0, [
    { ...SILENT, country: recipient.country, ...(since === undefined ? {} : { silentSince: since }) },
  ])

onEmbeddedStore('failover', fresh => {
  it('stores why a provider came first, by the facts that chose it, in whichever round it was called first', async () => {
    const store = await fresh()
    const actor = await actorWithTwoProviders(store)
    const failLate = async () => {
      await actor.clock.advance(1)
      return fail()()
    }
    const setBehavior = (one: SendBehavior) => Object.assign(actor.behaviors, { first: one, second: one })
    const doc = await actor.insertLiveOtp()
    setBehavior(failLate)
    await actor.deliver(doc)
    expect(actor.calls).to.deep.equal(['first', 'second'])
    await insertFacts(store, doc, 1)
    await actor.clock.advance(2_000)
    actor.behaviors.second = accept
    await actor.deliver(doc, 2)
    expect(actor.reports[0]?.body, 'it took over')
      .to.include({ provider: 'second' })
      .and.to.not.have.property('because')

    const other = await actor.insertLiveOtp()
    setBehavior(failLate)
    const before = actor.calls.length
    await actor.deliver(other)
    await actor.clock.advance(2_000)
    setBehavior(async () => {
      await insertFacts(store, doc)
      await actor.clock.advance(2_000)
      return accept()
    })
    await actor.deliver(other, 2)
    const [provider, , again] = actor.calls.slice(before)
    expect(again, 'the same comes first').to.equal(provider)
    expect(actor.reports[1]?.body).to.include({ provider })
    const rule = provider === 'second' ? 'spared' : 'probe'
    expect(actor.reports[1]?.body.because).to.include({ rule })
    const { delivery_id } = actor.reports[1]?.body ?? { delivery_id: '' }
    const reasons = (await findAttempts(store.docs('attempts'), delivery_id)).map(({ because }) => because?.rule)
    expect(reasons).to.include(rule)
  })

  it('goes on in the stored round, even when the broker delivers the message as if for the first time', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    Object.assign(actor.behaviors, { first: fail(), second: fail() })
    const doc = await actor.insertLiveOtp()
    expect(await actor.deliver(doc, 1)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
    expect(await actor.deliver(doc, 1), 'before the round begins').to.deep.equal({ kind: 'retry', afterMs: 1_000 })
    await actor.clock.advance(1_000)
    actor.behaviors.second = accept
    expect(await actor.deliver(doc, 1)).to.deep.equal({ kind: 'done' })
    expect([actor.calls, actor.statuses()]).to.deep.equal([['first', 'second', 'first', 'second'], ['sent']])
    actor.behaviors.second = fail()
    expect(await actor.deliverUntilDone(await actor.insertLiveOtp()), 'all four rounds').to.equal(21_000)
    expect(actor.calls).to.have.length(4 + 8)
    expect(actor.statuses()).to.deep.equal(['sent', 'failed'])
  })

  it('reads the verification again before every call', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    const doc = await actor.insertLiveOtp()
    actor.behaviors.first = async () => {
      await replaceOtp(actor.store, { ...doc, ...play(doc, cancel()).saved })
      return fail()()
    }
    await actor.deliverUntilDone(doc)
    expect([actor.calls, actor.statuses()]).to.deep.equal([['first'], ['failed']])
  })

  describe('after an unknown outcome', () => {
    it('is done when the receipt comes while it waits', async () => {
      const actor = await actorWithTwoProviders(await fresh())
      actor.behaviors.first = loseAnswer
      const doc = await actor.insertLiveOtp()
      expect((await actor.deliver(doc)).kind).to.equal('retry')
      const deliveries = doc.context.deliveries.map(one => ({ ...one, status: 'delivered' as const }))
      await replaceOtp(actor.store, { ...doc, context: { ...doc.context, deliveries } })
      expect(await actor.deliver(doc, 2)).to.deep.equal({ kind: 'done' })
      expect([actor.calls, actor.reports]).to.deep.equal([['first'], []])
    })

    describe('while another process makes the call', () => {
      /** A first process that has called the first provider and waits for its answer, and a second with the same message. */
      const twoProcesses = async () => {
        const store = await fresh()
        const first = await actorWithTwoProviders(store, {})
        const second = createTwoProviderActor(store, {}, { sharedClock: first.clock })
        let finish: (reference: { reference: null }) => void = () => {}
        first.behaviors.first = () => new Promise(resolve => (finish = resolve))
        const doc = await first.insertLiveOtp()
        const underWay = first.deliver(doc)
        while (first.calls.length === 0) await first.clock.advance(0)
        return { first, second, doc, underWay, finish: () => finish({ reference: null }) }
      }

      it('lets it finish', async () => {
        const { first, second, doc, underWay, finish } = await twoProcesses()
        expect((await second.deliver(doc)).kind).to.equal('retry')
        await first.clock.advance(UNDER_WAY_MS / 2)
        expect((await second.deliver(doc, 2)).kind).to.equal('retry')
        finish()
        expect(await underWay).to.deep.equal({ kind: 'done' })
        expect([first.calls, second.calls, first.statuses()]).to.deep.equal([['first'], [], ['sent']])
        expect(await second.deliver(doc, 3), 'reports it too').to.deep.equal({ kind: 'done' })
        expect([second.calls, second.statuses()]).to.deep.equal([[], ['sent']])
      })

      it('lets it finish for a short time only once the message was redelivered', async () => {
        const { first, second, doc } = await twoProcesses()
        expect(await second.redeliver(doc)).to.deep.equal({ kind: 'retry', afterMs: 1_000 })
        await first.clock.advance(REDELIVERED_UNDER_WAY_MS)
        expect(await second.redeliver(doc, 2)).to.deep.equal({ kind: 'done' })
        expect([first.calls, second.calls]).to.deep.equal([['first'], ['second']])
      })

      it('lets it finish for as long as a call may take where the message was published again', async () => {
        const { first, second, doc } = await twoProcesses()
        await first.clock.advance(REDELIVERED_UNDER_WAY_MS)
        expect((await second.deliverAgain(doc)).kind).to.equal('retry')
        expect(second.calls).to.deep.equal([])
      })

      for (const again of ['redeliver', 'deliverAgain'] as const)
        it(`calls no other provider, even if another one comes first by now: ${again}`, async () => {
          const { second, doc } = await twoProcesses()
          await second.store.docs('providers').modify({ _id: 'app_shop:first' }, { $set: { paused: true } })
          expect((await second[again](doc)).kind).to.equal('retry')
          expect(second.calls).to.deep.equal([])
        })
    })

    it('waits for its own call when the message comes again meanwhile, and does not repeat it', async () => {
      const actor = await actorWithTwoProviders(await fresh(), {})
      let finish: (reference: { reference: null }) => void = () => {}
      actor.behaviors.first = () => new Promise(resolve => (finish = resolve))
      const doc = await actor.insertLiveOtp()
      const outcomes = Promise.all([actor.deliver(doc), actor.redeliver(doc), actor.redeliver(doc, 2)])
      while (actor.calls.length === 0) await actor.clock.advance(0)
      await actor.clock.advance(TIMEOUT_MS / 2)
      finish({ reference: null })
      expect(await outcomes).to.deep.equal(Array(3).fill({ kind: 'done' }))
      expect(actor.calls).to.deep.equal(['first'])
    })
  })

  describe('a provider that keeps failing', () => {
    /** An actor after ten messages that the first provider failed to send and the second accepted. */
    const actorWithBrokenProvider = async () => {
      const actor = await actorWithTwoProviders(await fresh())
      actor.behaviors.first = fail()
      for (let nth = 0; nth < 10; nth += 1) await actor.deliverUntilDone(await actor.insertLiveOtp())
      actor.calls.length = 0
      return actor
    }

    it('is named as the one from which the next took over, unless it was called for the message', async () => {
      const actor = await actorWithBrokenProvider()
      const because = () => actor.reports.at(-1)?.body.because
      expect(because(), 'the attempts say it').to.equal(undefined)
      await actor.deliverUntilDone(await actor.insertLiveOtp())
      expect(because()).to.deep.equal({ rule: 'taken_over', from: 'first' })
      await actor.store.docs('providers').modify({ _id: 'app_shop:first' }, { $set: { paused: true } })
      await actor.clock.advance(TENANT_CACHE.ttlMs)
      await actor.deliverUntilDone(await actor.insertLiveOtp())
      expect(because(), 'the next is the first that may be used').to.equal(undefined)
    })

    it('is not skipped for a message that it may have sent', async () => {
      const actor = await actorWithBrokenProvider()
      const doc = await actor.insertLiveOtp()
      await insertUnfinishedAttempt(actor, doc, 'first')
      expect((await actor.deliver(doc)).kind).to.equal('retry')
      expect(actor.calls).to.deep.equal([])
    })
  })

  it('returns messages to the broker that are too many for a hanging provider, without an attempt', async () => {
    const actor = await actorWithTwoProviders(await fresh())
    const answers: (() => void)[] = []
    actor.behaviors.first = () => new Promise(resolve => answers.push(() => resolve({ reference: null })))
    const docs = await Promise.all(Array.from({ length: 70 }, () => actor.insertLiveOtp()))
    const delivering = docs.slice(0, 64).map(doc => actor.deliver(doc))
    while (answers.length < 64) await actor.clock.advance(0)
    await actor.clock.advance(7_000)
    const returned = await Promise.all(docs.slice(64).map(doc => actor.deliver(doc)))
    expect(returned).to.deep.equal(Array(6).fill({ kind: 'retry', afterMs: 5_000 }))
    for (const answer of answers) answer()
    expect((await Promise.all(delivering)).map(({ kind }) => kind)).to.deep.equal(Array(64).fill('done'))
    expect(await actor.store.docs('attempts').count({ _id: { $gt: '' } })).to.equal(64)
    expect(new Set(actor.calls)).to.deep.equal(new Set(['first']))
  })
})
