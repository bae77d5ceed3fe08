// When the edge writes that a key was used, and what the store then holds.
import { expect } from 'chai'
import fc from 'fast-check'
import type { GroupUpdate } from '../../../infra/store/docs.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { ApiKey } from '../../../services/domain/tenancy/documents.ts'
import { createKeyUsage } from '../../../services/edge/key-usage.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { apiKey } from '../../support/edge.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { eachStore } from '../../support/stores.ts'

const START = Date.UTC(2030, 0, 1, 12, 0, 30)
const NOON = Date.UTC(2030, 0, 1, 12)
const MINUTE = 60_000

function startUsage() {
  const clock = testClock(START)
  const writes: (readonly GroupUpdate<ApiKey>[])[] = []
  const { log, lines } = createCapturedLog()
  const store = { isDown: false }
  const keys = {
    update: async (updates: readonly GroupUpdate<ApiKey>[]) => {
      if (store.isDown) throw new Unavailable('down')
      writes.push(updates)
      return updates.flatMap(({ ids }) => ids.map(() => 'updated' as const))
    },
  }
  return { clock, writes, lines, store, usage: createKeyUsage({ keys, clock, log }) }
}

const written = (minute: number, ...ids: string[]) => ({ ids, update: { $max: { last_used_at: minute } } })

describe('the last use of API keys', () => {
  it('is written soon after the first use, and then at most once a minute for all keys together', async () => {
    const { clock, writes, usage } = startUsage()
    for (let n = 0; n < 1_000; n += 1) usage.record({ _id: `key_${n % 3}` })
    await clock.advance(1_000)
    expect(writes).to.deep.equal([[written(NOON, 'key_0', 'key_1', 'key_2')]])
    for (let second = 0; second < 600; second += 1) {
      for (const _id of ['key_0', 'key_1', 'key_late']) usage.record({ _id })
      await clock.advance(1_000)
    }
    expect(writes.length).to.be.within(10, 11)
    for (const updates of writes) expect(updates.length).to.be.within(1, 2)
  })

  it('is not written again within its minute', async () => {
    const { clock, writes, usage } = startUsage()
    usage.record({ _id: 'key_a' })
    await clock.advance(1_000)
    usage.record({ _id: 'key_a' })
    usage.record({ _id: 'key_b', last_used_at: NOON })
    await clock.advance(10 * MINUTE)
    expect(writes).to.have.length(1)
    await usage.stop()
    expect(writes).to.have.length(1)
  })

  it('keeps the minute of the use, also when it is written later', async () => {
    const { clock, writes, usage } = startUsage()
    usage.record({ _id: 'key_a' })
    await clock.advance(1_000)
    await clock.advance(28_000)
    usage.record({ _id: 'key_b' })
    await clock.advance(2_000)
    usage.record({ _id: 'key_c' })
    await clock.advance(MINUTE)
    expect(writes[1]).to.deep.equal([written(NOON, 'key_b'), written(NOON + MINUTE, 'key_c')])
  })

  it('is written when the process stops, and not afterwards', async () => {
    const { clock, writes, usage } = startUsage()
    usage.record({ _id: 'key_a' })
    await usage.stop()
    expect(writes).to.deep.equal([[written(NOON, 'key_a')]])
    usage.record({ _id: 'key_b' })
    await clock.advance(10 * MINUTE)
    expect(writes).to.have.length(1)
  })

  it('is kept while the store is down, and written with the latest use when it answers', async () => {
    const { clock, writes, lines, store, usage } = startUsage()
    store.isDown = true
    usage.record({ _id: 'key_a' })
    usage.record({ _id: 'key_b' })
    await clock.advance(MINUTE)
    usage.record({ _id: 'key_b' })
    store.isDown = false
    await clock.advance(MINUTE)
    expect(writes).to.deep.equal([[written(NOON, 'key_a'), written(NOON + MINUTE, 'key_b')]])
    expect(lines().map(({ msg }) => msg)).to.include('write_behind.failed')
  })
})

eachStore('the stored last use of an API key', fresh => {
  it('is the latest minute of all processes, in whatever order they write', async () => {
    const store = await fresh()
    const keys = store.docs('keys')
    await keys.insert([apiKey('key_a', 'sk_test_0123456789')])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 300_000 }), { minLength: 1, maxLength: 6 }), async offsets => {
        const before = (await keys.get(['key_a'])).get('key_a')?.last_used_at ?? 0
        const uses = offsets.map(offset => START + offset)
        await Promise.all(
          uses.map(async at => {
            const usage = createKeyUsage({ keys, clock: testClock(at), log: createCapturedLog().log })
            usage.record({ _id: 'key_a' })
            await usage.stop()
          }),
        )
        const latest = Math.max(before, ...uses.map(at => at - (at % MINUTE)))
        expect((await keys.get(['key_a'])).get('key_a')?.last_used_at).to.equal(latest)
      }),
      { numRuns: propertyRuns(20) },
    )
  })

  it('is not stored for a key that does not exist any more', async () => {
    const store = await fresh()
    const keys = store.docs('keys')
    const usage = createKeyUsage({ keys, clock: testClock(START), log: createCapturedLog().log })
    usage.record({ _id: 'key_gone' })
    await usage.stop()
    expect(await keys.get(['key_gone'])).to.have.property('size', 0)
  })
})
