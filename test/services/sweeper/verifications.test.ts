import { expect } from 'chai'
import { PARTITIONS } from '../../../infra/partitions.ts'
import type { Update } from '../../../infra/store/docs.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import type { OutboxEntry } from '../../../services/domain/verifications/queue-messages.ts'
import { createOtpSweeps } from '../../../services/sweeper/verifications.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites } from '../../support/tenancy.ts'

const PARTITION = 3

eachStore('sweeping verifications', fresh => {
  let clock: TestClock
  let store: CountersignStore
  let published: { queue: string; id: string; body: unknown }[]
  let relayed: [string, string[]][]
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
    published = []
    relayed = []
  })
  const createSweeps = (on = store, soleProcess = false) =>
    createOtpSweeps({
      store: on,
      clock,
      soleProcess,
      broker: { publish: async (queue, { id, body }) => void published.push({ queue, id, body }) },
      relay: { publish: (otp_id, effects) => void relayed.push([otp_id, effects.map(({ id }) => id)]) },
    })
  const sweepAll = async (name: 'expiry' | 'outbox') => {
    return createSweeps()[name]?.(Array.from({ length: PARTITIONS }, (_, partition) => partition))
  }
  const otp = (_id: string, more: Partial<OtpDoc>) =>
    store
      .docs('otps')
      .insert([{ _id, rev: 1, partition: PARTITION, outbox: [], outbox_at: null, ...more } as unknown as OtpDoc])

  it('sends a reminder of a due verification once, and again after a minute if it is still due', async () => {
    await otp('otp_due', { due_at: clock.now() + 1_000 })
    await otp('otp_later', { due_at: clock.now() + 3_600_000 })
    await otp('otp_final', {})
    expect(await sweepAll('expiry')).to.equal(0)
    await clock.advance(1_000)
    expect(await sweepAll('expiry')).to.equal(1)
    expect(await sweepAll('expiry')).to.equal(0)
    expect(published.map(({ queue, body }) => [queue, body])).to.deep.equal([
      ['otp.reports', { type: 'otp.due', otp_id: 'otp_due' }],
    ])
    await clock.advance(60_000)
    expect(await sweepAll('expiry')).to.equal(1)
  })

  it('publishes effects that a dead process left in the outbox, and no recent ones', async () => {
    const effect = (id: string): OutboxEntry => ({ id, queue: 'channel.sms', body: {}, at: clock.now() })
    await otp('otp_stuck', { outbox: [effect('a'), effect('b')], outbox_at: clock.now() })
    await otp('otp_empty', {})
    expect(await sweepAll('outbox')).to.equal(0)
    await clock.advance(10_000)
    await otp('otp_fresh', { outbox: [effect('c')], outbox_at: clock.now() })
    expect(await sweepAll('outbox')).to.equal(1)
    expect(relayed).to.deep.equal([['otp_stuck', ['a', 'b']]])
    expect(await sweepAll('outbox')).to.equal(0)
    await clock.advance(10_000)
    expect(await sweepAll('outbox')).to.equal(2)
  })

  it('publishes effects from before its start at once where no other process uses the store, and its own later', async () => {
    const effect = (id: string): OutboxEntry => ({ id, queue: 'channel.sms', body: {}, at: clock.now() })
    await otp('otp_before', { outbox: [effect('a')], outbox_at: clock.now() })
    await clock.advance(1)
    const { outbox } = createSweeps(store, true)
    await otp('otp_own', { outbox: [effect('b')], outbox_at: clock.now() })
    expect(await outbox?.([PARTITION])).to.equal(1)
    expect(await outbox?.([PARTITION])).to.equal(0)
    expect(relayed).to.deep.equal([['otp_before', ['a']]])
    await clock.advance(10_000)
    expect(await outbox?.([PARTITION])).to.equal(2)
  })

  it('leaves a verification alone that changed between the read and the write', async () => {
    const effect: OutboxEntry = { id: 'a', queue: 'channel.sms', body: {}, at: clock.now() }
    await otp('otp_due', { due_at: clock.now() })
    await otp('otp_stuck', { outbox: [effect], outbox_at: clock.now() })
    await clock.advance(10_000)
    const storeChangedBefore = (_id: string, update: Update<OtpDoc>) =>
      interceptWrites(store, { before: call => call === 'otps.update' && store.docs('otps').modify({ _id }, update) })
    const { expiry } = createSweeps(storeChangedBefore('otp_due', { $unset: { due_at: true } }))
    const { outbox } = createSweeps(storeChangedBefore('otp_stuck', { $set: { outbox: [], outbox_at: null } }))
    expect([await expiry?.([PARTITION]), await outbox?.([PARTITION])]).to.deep.equal([1, 1])
    const left = await store.docs('otps').get(['otp_due', 'otp_stuck'])
    expect(left.get('otp_due')).not.to.have.property('due_at')
    expect(left.get('otp_stuck')?.outbox_at).to.equal(null)
  })
})
