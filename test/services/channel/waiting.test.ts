// Messages that wait for a slot of their provider, which allows one call at once.
import { expect } from 'chai'
import type { DeliveryMessage } from '../../../services/channel/provider.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { TENANT_CACHE } from '../../../services/domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { type ChannelActorOptions, createChannelActor, replaceOtp } from '../../support/channel-actor.ts'
import { cancel, play, resend } from '../../support/otp.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import { promiseState } from '../../support/promise-state.ts'
import { createTenant, insertOtp } from '../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const
/** So long a message waits before its verification is read again. */
const MAX_READ_AGE_MS = 1_000

/** An actor and an app with providers of these names. Each call waits until the test answers it. */
async function createSlowActor(
  store: CountersignStore,
  options: ChannelActorOptions = {},
  names: readonly string[] = ['first', 'second'],
) {
  const calls: { provider: string; otp_id: string; answer: (failure?: Error) => void }[] = []
  const reads: string[] = []
  const counted = overrideDocs(store, 'otps', ({ get }) => ({
    get(ids, options) {
      reads.push(...ids)
      return get(ids, options)
    },
  }))
  const http = ({ name }: { name: string }) => ({
    send: ({ job }: DeliveryMessage) =>
      new Promise<{ reference: null }>((resolve, reject) => {
        const answer = (failure?: Error): void => (failure ? reject(failure) : resolve({ reference: null }))
        calls.push({ provider: name, otp_id: job.otp.otp_id, answer })
      }),
  })
  const actor = createChannelActor(counted, { http }, { maxCalls: 1, ...options })
  const providers = names.map(name => ({
    name,
    channel: 'sms',
    type: 'http',
    config: { url: `https://${name}.example/` },
  }))
  await createTenant(actor, { providers })

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await actor.clock.advance(0)
  }
  return {
    ...actor,
    calls,
    until,
    readsOf: ({ _id }: OtpDoc) => reads.filter(id => id === _id).length,
    called: () => calls.map(({ provider, otp_id }) => `${provider} ${otp_id}`),
    /** Delivers a verification, and returns once it has its slot or waits for it. */
    async begin() {
      const doc = await insertOtp(actor, live)
      const asked = actor.askedForPermit()
      const outcome = actor.deliver(doc)
      await until(() => actor.askedForPermit() > asked)
      return { doc, outcome }
    },
    async answer(nth: number, failure?: Error): Promise<void> {
      await until(() => calls.length > nth)
      calls[nth]?.answer(failure)
    },
    /** Whether a message could be sent by the provider at once. */
    async isFree(name: string): Promise<boolean> {
      const admitted = promiseState(
        actor.gates.admit({ company_id: 'cmp_acme', app_id: 'app_shop', name, type: 'http' }),
      )
      await actor.clock.advance(0)
      return admitted.state === 'resolved' && 'run' in (admitted.value as object)
    },
  }
}

onEmbeddedStore('a message that waits for a slot of its provider', fresh => {
  it('is sent when it has one, and its verification is read again only after a long wait', async () => {
    // The last read is that before the call, once the attempt is stored.
    for (const [waitMs, reads] of [
      [MAX_READ_AGE_MS, 2],
      [MAX_READ_AGE_MS + 1, 3],
    ] as const) {
      const actor = await createSlowActor(await fresh())
      const [before, waiting] = [await actor.begin(), await actor.begin()]
      await actor.clock.advance(waitMs)
      expect(actor.called()).to.deep.equal([`first ${before.doc._id}`])
      await actor.answer(0)
      await actor.answer(1)
      for (const { outcome } of [before, waiting]) expect(await outcome).to.deep.equal({ kind: 'done' })
      expect(actor.called()).to.deep.equal([before, waiting].map(({ doc }) => `first ${doc._id}`))
      expect(actor.readsOf(waiting.doc)).to.equal(reads)
      expect(actor.statuses()).to.deep.equal(['sent', 'sent'])
    }
  })

  const endings: [string, string[], (actor: { store: CountersignStore }, doc: OtpDoc) => Promise<unknown>][] = [
    ['canceled', ['failed'], ({ store }, doc) => replaceOtp(store, { ...doc, ...play(doc, cancel()).saved })],
    ['resent', ['failed'], ({ store }, doc) => replaceOtp(store, { ...doc, ...play(doc, resend('whatsapp')).saved })],
    ['erased', [], ({ store }, doc) => store.docs('otps').remove({ _id: doc._id }, 1)],
  ]
  for (const [what, statuses, end] of endings)
    it(`is not sent if its verification was ${what} meanwhile, and leaves its slot to the next`, async () => {
      const actor = await createSlowActor(await fresh())
      const [before, waiting] = [await actor.begin(), await actor.begin()]
      await actor.clock.advance(MAX_READ_AGE_MS + 1)
      await end(actor, waiting.doc)
      await actor.answer(0)
      for (const { outcome } of [before, waiting]) expect(await outcome).to.deep.equal({ kind: 'done' })
      expect(actor.calls).to.have.length(1)
      expect(actor.statuses()).to.have.members(['sent', ...statuses])
      expect(await actor.isFree('first')).to.equal(true)
    })

  it('leaves its slot to the next if another provider is to be called after the wait', async () => {
    const actor = await createSlowActor(await fresh())
    await actor.begin()
    await actor.clock.advance(1_500)
    const waiting = await actor.begin()
    await actor.store.docs('providers').modify({ _id: 'app_shop:first' }, { $set: { paused: true } })
    await actor.clock.advance(TENANT_CACHE.ttlMs - 1_000)
    await actor.answer(0)
    await actor.answer(1)
    expect(await waiting.outcome).to.deep.equal({ kind: 'done' })
    expect(actor.calls.map(({ provider }) => provider)).to.deep.equal(['first', 'second'])
    expect(await actor.isFree('first')).to.equal(true)
  })

  it('is not read if many came at once, and there is no place for it', async () => {
    const actor = await createSlowActor(await fresh(), {}, ['first'])
    const { outcome } = await actor.begin()
    await actor.answer(0)
    await outcome
    const docs = await Promise.all(Array.from({ length: 200 }, () => insertOtp(actor, live)))
    const asked = actor.askedForPermit()
    const states = docs.map(doc => promiseState(actor.deliver(doc)))
    const returned = () => states.filter(({ state }) => state === 'resolved').length
    await actor.until(() => actor.askedForPermit() - asked + returned() >= docs.length)
    const read = docs.filter(doc => actor.readsOf(doc) > 0).length
    expect([read, returned() > 0]).to.deep.equal([docs.length - returned(), true])
  })

  it('goes back at once if it would wait for more than five seconds', async () => {
    const actor = await createSlowActor(await fresh())
    await actor.begin()
    await actor.clock.advance(1_800)
    const doc = await insertOtp(actor, live)
    for (let nth = 0; nth < 2; nth += 1) await actor.begin()
    expect(await actor.deliver(doc), 'three calls of 1.8 seconds').to.deep.equal({ kind: 'retry', afterMs: 5_000 })
  })

  for (const [draw, afterMs] of [
    [0.14, 5_000],
    [0.15, 1_000],
  ] as const)
    it(`goes back for ${afterMs} ms by a draw of ${draw} if it would wait for 2.1 s, three quarters of which are 1.575 s`, async () => {
      const actor = await createSlowActor(await fresh(), { random: () => draw })
      const doc = await insertOtp(actor, live)
      await actor.begin()
      await actor.clock.advance(2_100)
      expect(await actor.deliver(doc)).to.deep.equal({ kind: 'retry', afterMs })
    })
})
