// A counter's key contains an index under the current data key. Rotating the data keys must not reset any limit.
import { expect } from 'chai'
import fc from 'fast-check'
import type { Limit } from '../../../../machines/quotas.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { createLimits, type Limits } from '../../../../services/otp/limits/limits.ts'
import { testClock } from '../../../support/clock.ts'
import { countIn, createWindowModel } from '../../../support/limit-windows.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { eachStore } from '../../../support/stores.ts'

eachStore('limits while data keys rotate', fresh => {
  let store: CountersignStore
  const clock = testClock()
  beforeEach(async () => {
    store = await fresh()
  })
  const process = () => createLimits({ counters: store.docs('counters'), clock })
  const rules = [{ max: 3, seconds: 600 }]
  const before: Limit = { key: 'old', rules }
  const since: Limit = { key: 'new', formerKeys: ['old'], rules }

  it('are also read under the old key, including locks', async () => {
    await process().take(before)
    await process().lock(before, 60_000)
    expect(await process().peek(since)).to.include({ granted: false, retry_after_ms: 60_000 })
    await process().take(since)
    expect(await process().peek({ key: 'new', rules })).to.include({ granted: false, retry_after_ms: 60_000 })
  })

  describe('in a rolling restart, where processes have the same keys in different orders', () => {
    let runs = 0
    /** The limit of one recipient, as processes with the old key first and with the new key first see it. */
    const limitOf = (max: number) => {
      runs += 1
      const [old, current] = [`${runs}:old`, `${runs}:new`]
      const under = [{ max, seconds: 600 }]
      const oldFirst: Limit = { key: old, formerKeys: [current], rules: under }
      const newFirst: Limit = { key: current, formerKeys: [old], rules: under }
      return { oldFirst, newFirst, bothOrders: [oldFirst, newFirst] as const }
    }
    /** Four processes: two have the old key first, two the new one. */
    const startProcesses = (max: number) => {
      const { bothOrders } = limitOf(max)
      const started = bothOrders.flatMap(limit => [process(), process()].map(limits => ({ limit, limits })))
      const at = (nth: number) => started[nth] as { limit: Limit; limits: Limits }
      return {
        take: async (nth: number): Promise<boolean> => (await at(nth).limits.take(at(nth).limit)).granted,
        giveBack: (nth: number) => at(nth).limits.giveBack(at(nth).limit, clock.now()),
        peek: async (nth: number): Promise<boolean> => (await at(nth).limits.peek(at(nth).limit)).granted,
        keys: bothOrders.map(({ key }) => key),
      }
    }
    const countsUnder = async (keys: readonly string[]): Promise<number[]> =>
      [...(await store.docs('counters').get(keys)).values()].map(({ windows }) => countIn(windows.s600))
    const anyMax = fc.integer({ min: 1, max: 4 })
    const anyProcess = fc.nat(3)

    it('grant exactly as many calls as one process would, in any order of processes, at any time', async () => {
      const steps = fc.array(fc.record({ nth: anyProcess, gap: fc.integer({ min: 0, max: 200_000 }) }), {
        maxLength: 20,
      })
      await fc.assert(
        fc.asyncProperty(anyMax, steps, async (max, all) => {
          const { take, peek } = startProcesses(max)
          const model = createWindowModel([{ max, seconds: 600 }])
          for (const { nth, gap } of all) {
            await clock.advance(gap)
            const allowed = model.waitAt(clock.now()) === 0
            expect(await peek(nth)).to.equal(allowed)
            expect(await take(nth)).to.equal(allowed)
            if (allowed) model.take(clock.now())
          }
        }),
        { numRuns: propertyRuns(25) },
      )
    })

    it('count what was used, and not what was given back, under every key under which they are counted', async () => {
      const steps = fc.array(fc.record({ nth: anyProcess, isUsed: fc.boolean() }), { maxLength: 20 })
      await fc.assert(
        fc.asyncProperty(anyMax, steps, async (max, all) => {
          const { take, giveBack, keys } = startProcesses(max)
          let used = 0
          for (const { nth, isUsed } of all) {
            expect(await take(nth)).to.equal(used < max)
            if (used < max && !isUsed) await giveBack(nth)
            else used = Math.min(max, used + 1)
            for (const count of await countsUnder(keys)) expect(count).to.equal(used)
          }
        }),
        { numRuns: propertyRuns(25) },
      )
    })

    it('are not passed by calls that race, except by one call if these are the very first', async () => {
      const calls = fc.array(anyProcess, { minLength: 2, maxLength: 16 })
      await fc.assert(
        fc.asyncProperty(anyMax, fc.option(anyProcess), calls, async (max, before, racing) => {
          const { take, giveBack } = startProcesses(max)
          if (before !== null) await take(before)
          const most = before === null ? max + 1 : max
          const granted = [...(before === null ? [] : [before])]
          await Promise.all(racing.map(async nth => void ((await take(nth)) && granted.push(nth))))
          for (const nth of [0, 1, 2, 3]) if (await take(nth)) granted.push(nth)
          expect(granted.length).to.be.within(1, most)

          await Promise.all(granted.map(giveBack))
          const again = await Promise.all([...racing, ...racing].map(take))
          expect(again.filter(Boolean).length, 'after everything was given back').to.be.at.most(max)
        }),
        { numRuns: propertyRuns(40) },
      )
    })

    it('hold their locks for processes of either order, and also when either key is removed', async () => {
      for (const by of ['oldFirst', 'newFirst'] as const) {
        const limit = limitOf(9)
        const limits = process()
        for (const one of limit.bothOrders) await limits.take(one)
        await limits.lock(limit[by], 60_000)
        for (const { key, formerKeys, rules: under } of limit.bothOrders) {
          const refused = { granted: false, retry_after_ms: 60_000 }
          expect(await process().peek({ key, formerKeys: formerKeys ?? [], rules: under })).to.include(refused)
          expect(await process().peek({ key, rules: under }), 'with one key').to.include(refused)
        }
      }
    })
  })

  it('cost no further command and no further document while nothing is stored under the former keys', async () => {
    const docs = store.docs('counters')
    const calls: string[] = []
    const counters: Pick<typeof docs, 'get' | 'insert' | 'update'> = {
      get(ids) {
        calls.push('get')
        return docs.get(ids)
      },
      insert(all) {
        calls.push(...all.map(({ _id }) => `insert ${_id}`))
        return docs.insert(all)
      },
      update(all) {
        calls.push(...all.map(({ ids }) => `update ${ids.join()}`))
        return docs.update(all)
      },
    }
    const commandsOf = async (limit: Limit): Promise<string[][]> => {
      const limits = createLimits({ counters, clock })
      const seen: string[][] = []
      const giveBack = (limit: Limit) => limits.giveBack(limit, clock.now())
      for (const call of [limits.take, limits.take, giveBack, limits.peek]) {
        await call(limit)
        seen.push(calls.splice(0))
      }
      return seen
    }
    const later = (key: string) => [[`update ${key}`, 'get'], [`update ${key}`], ['get']]
    expect(await commandsOf({ key: 'one', rules })).to.deep.equal([['insert one'], ...later('one')])
    const two = { key: 'two', formerKeys: ['former'], rules }
    expect(await commandsOf(two), 'two keys').to.deep.equal([['get', 'insert two'], ...later('two')])
  })
})
