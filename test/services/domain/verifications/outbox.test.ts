import { expect } from 'chai'
import type { Clock } from '../../../../infra/clock.ts'
import type { Docs } from '../../../../infra/store/docs.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { createRelay } from '../../../../services/domain/verifications/outbox.ts'
import type { OutboxEntry } from '../../../../services/domain/verifications/queue-messages.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'
import { eventually } from '../../../support/eventually.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('the outbox', fresh => {
  const effect = (id: string): OutboxEntry => ({ id, queue: 'channel.sms', body: {}, at: 1 })

  async function relayed(ids: string[], publish: (id: string, clock: Clock) => Promise<void>) {
    const clock = testClock()
    const otps = (await fresh()).docs('otps')
    const outbox = ids.map(effect)
    await otps.insert([{ _id: 'otp_1', rev: 1, partition: 0, outbox, outbox_at: 1 } as unknown as OtpDoc])
    let writes = 0
    const update: Docs<OtpDoc>['update'] = updates => {
      writes += updates.flatMap(one => one.ids).length
      return otps.update(updates)
    }
    const relay = createRelay({
      clock,
      log: createCapturedLog().log,
      otps: { update },
      publishEffect: ({ id }) => publish(id, clock),
    })
    for (const one of outbox) relay.publish('otp_1', [one])
    const left = async () => {
      const doc = (await otps.get(['otp_1'])).get('otp_1')
      return { ids: doc?.outbox.map(({ id }) => id), outbox_at: doc?.outbox_at, rev: doc?.rev }
    }
    return { clock, relay, left, writes: () => writes }
  }

  it('removes published effects of a verification in one write, without changing its revision', async () => {
    const { clock, left, writes } = await relayed(['a', 'b'], async () => {})
    await clock.advance(3_000)
    await eventually(async () => expect(await left()).to.deep.equal({ ids: [], outbox_at: null, rev: 1 }))
    expect(writes()).to.equal(1)
  })

  it('keeps effects that the broker refused, for the sweeper', async () => {
    const refuse = async (id: string): Promise<void> => {
      if (id === 'b') throw new Error('down')
    }
    const { relay, left } = await relayed(['a', 'b'], refuse)
    await relay.settled()
    expect(await left()).to.deep.equal({ ids: ['b'], outbox_at: 1, rev: 1 })
  })

  it('publishes an effect again soon after the broker refused it, and removes it then', async () => {
    let refusals = 3
    const { clock, left } = await relayed(['a'], async () => {
      refusals -= 1
      if (refusals >= 0) throw new Error('down')
    })
    await clock.advance(1_000)
    expect(refusals).to.equal(0)
    await clock.advance(500)
    expect(refusals).to.equal(-1)
    await clock.advance(3_000)
    await eventually(async () => expect((await left()).ids).to.deep.equal([]))
  })

  it('leaves an effect to the sweeper that the broker keeps refusing', async () => {
    let publishes = 0
    const { clock, left } = await relayed(['a'], async () => {
      publishes += 1
      throw new Error('down')
    })
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000)
    expect(publishes).to.equal(17)
    expect((await left()).ids).to.deep.equal(['a'])
  })

  it('leaves an effect to the sweeper that the broker did not confirm for long', async () => {
    let publishes = 0
    const { clock } = await relayed(['a'], async (_, clock) => {
      publishes += 1
      await new Promise<void>(resolve => void clock.after(15_000, resolve))
      throw new Error('not confirmed')
    })
    for (let second = 0; second < 120; second += 1) await clock.advance(1_000)
    expect(publishes).to.equal(1)
  })

  it('tries no effect again once it is settled', async () => {
    let publishes = 0
    const { clock, relay } = await relayed(['a'], async () => {
      publishes += 1
      throw new Error('down')
    })
    await relay.settled()
    await clock.advance(60_000)
    expect(publishes).to.equal(1)
  })

  it('does not remove what another write removed while it was being published', async () => {
    let confirm = () => {}
    const { clock, relay, writes } = await relayed(['a'], () => new Promise<void>(resolve => (confirm = resolve)))
    relay.removed('otp_1', ['a', 'not being published'])
    confirm()
    await clock.advance(10_000)
    expect(relay.published('otp_1')).to.deep.equal([])
    await relay.settled()
    expect(writes()).to.equal(0)
  })

  it('does not publish again what another write removed before the broker refused it', async () => {
    let publishes = 0
    let refuse = () => {}
    const { clock, relay } = await relayed(['a'], () => {
      publishes += 1
      return new Promise<void>((_, reject) => (refuse = () => reject(new Error('down'))))
    })
    relay.removed('otp_1', ['a'])
    refuse()
    await clock.advance(60_000)
    expect(publishes).to.equal(1)
  })
})
