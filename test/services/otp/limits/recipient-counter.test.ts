// A recipient's sends and messages are counted in one document. In any order, at any time and from any process, neither limit is passed,
// a refused call is counted in neither, and what is given back is what was taken.
import { expect } from 'chai'
import fc from 'fast-check'
import type { Quota } from '../../../../machines/quotas.ts'
import { quotaOfMessage } from '../../../../machines/quotas.ts'
import type { LimitRule } from '../../../../machines/settings.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { resolveSettings } from '../../../../services/domain/tenancy/settings.ts'
import type { CounterDoc } from '../../../../services/domain/verifications/documents.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import { recipientSends, sendQuotas } from '../../../../services/otp/limits/quota-counters.ts'
import { type Reservation, reserve } from '../../../../services/otp/reservation.ts'
import { testClock } from '../../../support/clock.ts'
import { countIn, createWindowModel } from '../../../support/limit-windows.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { eachStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const keyring = testKeyring()
const { limits: defaults } = resolveSettings({})
const APP = { app_id: 'app_a', mode: 'live' } as const
const KEY = 'app_a:live:sends:server:ada'
const DAY = 86_400
const PLENTY = [{ max: 100_000, seconds: 60 }]

/** A link is a send without a message; a message alone is a resend, a fallback or an answer in the chat. */
type Call = 'send' | 'link' | 'message'
const anyCall = fc.constantFrom<Call>('send', 'link', 'message')
const isSend = (call: Call): boolean => call !== 'message'
const isMessage = (call: Call): boolean => call !== 'link'

interface Rules {
  sends: LimitRule[]
  messages: LimitRule[]
  app?: LimitRule[]
}

function quotasOf(call: Call, { sends, messages, app = PLENTY }: Rules, app_id: string = APP.app_id): Quota[] {
  const limits = { ...defaults, recipient: sends, recipient_messages: messages, app_without_client_ip: app }
  const appMode = { ...APP, app_id }
  if (!isSend(call)) return [quotaOfMessage(recipientSends(appMode, ['ada'], 'server'), limits)]
  const input = { ...appMode, kind: 'server', limits, address: null, mailboxIndexes: ['ada'] } as const
  return sendQuotas(keyring, { ...input, sendsMessage: isMessage(call) })
}

eachStore('the counter of a recipient', fresh => {
  let store: CountersignStore
  let clock = testClock()
  beforeEach(async () => {
    store = await fresh()
    clock = testClock()
  })
  const process = () => createLimits({ counters: store.docs('counters'), clock })
  const counter = async (key = KEY): Promise<CounterDoc | undefined> =>
    (await store.docs('counters').get([key])).get(key)
  const countsOf = async (key = KEY): Promise<Record<string, number>> =>
    Object.fromEntries(
      Object.entries((await counter(key))?.windows ?? {}).map(([name, window]) => [name, countIn(window)]),
    )
  const rule = (max: number, seconds = 600): LimitRule[] => [{ max, seconds }]

  it('is one document, in which sends and messages have windows of their own, also with rules of the same length', async () => {
    const rules = { sends: rule(5), messages: rule(9) }
    const limits = process()
    for (const call of ['send', 'send', 'link', 'message', 'message'] as const)
      expect((await reserve(limits, quotasOf(call, rules))).refusal).to.equal(undefined)
    expect(await countsOf()).to.deep.equal({ s600: 3, messages_s600: 4 })
    const counters = await store.docs('counters').find({}, { sort: { _id: 1 }, limit: 9 })
    expect(counters.map(({ _id }) => _id)).to.deep.equal([KEY, 'app_a:live:without_ip:server'])
  })

  it('costs one insert for the first send to a recipient, and one update and its read for each later one', async () => {
    const docs = store.docs('counters')
    const calls: string[] = []
    const counters: Pick<typeof docs, 'get' | 'insert' | 'update'> = {
      get: ids => {
        calls.push(`get ${ids.join()}`)
        return docs.get(ids)
      },
      insert: all => {
        calls.push(...all.map(({ _id }) => `insert ${_id}`))
        return docs.insert(all)
      },
      update: all => {
        calls.push(...all.map(({ ids }) => `update ${ids.join()}`))
        return docs.update(all)
      },
    }
    const limits = createLimits({ counters, clock })
    const rules = { sends: rule(5), messages: rule(9) }
    const ofRecipient = () => calls.splice(0).filter(call => call.endsWith(KEY))
    await reserve(limits, quotasOf('send', rules))
    expect(ofRecipient()).to.deep.equal([`insert ${KEY}`])
    await reserve(limits, quotasOf('send', rules))
    expect(ofRecipient()).to.deep.equal([`update ${KEY}`, `get ${KEY}`])
  })

  it('lives as long as its longest window, no matter what is counted last', async () => {
    const rules = { sends: rule(5), messages: rule(9, DAY) }
    const limits = process()
    await reserve(limits, quotasOf('send', rules))
    const purgeAt = (await counter())?.purge_at
    expect(purgeAt).to.deep.equal(new Date(clock.now() + 2 * DAY * 1_000))
    await reserve(limits, quotasOf('link', rules))
    expect((await counter())?.purge_at).to.deep.equal(purgeAt)
    await clock.advance(1_000)
    await reserve(limits, quotasOf('message', rules))
    expect((await counter())?.purge_at).to.deep.equal(new Date(clock.now() + 2 * DAY * 1_000))
  })

  describe('tells when a send was counted before', () => {
    const rules = { sends: rule(2), messages: rule(9) }
    const lastAt = async (limits: ReturnType<typeof process>) =>
      (await reserve(limits, quotasOf('send', rules))).last_at

    it('not one that another limit refused, nor one that was given back', async () => {
      const [limits, other] = [process(), process()]
      const none = { ...rules, app: rule(0) }
      expect((await reserve(limits, quotasOf('send', none))).refusal?.scope).to.equal('app_without_client_ip')
      await clock.advance(1_000)
      expect(await lastAt(limits)).to.equal(undefined)
      const counted = clock.now()
      await clock.advance(1_000)
      for (const from of [process(), other]) {
        const { refusal } = await reserve(from, quotasOf('send', none))
        expect(refusal?.scope).to.equal('app_without_client_ip')
        await clock.advance(1_000)
      }
      const { undo, last_at } = await reserve(other, quotasOf('send', rules))
      expect(last_at).to.equal(counted)
      await undo()
      expect(await lastAt(limits)).to.equal(counted)
    })

    it('not one that came within an hour of that, so that each hour has one that came after an hour', async () => {
      const limits = process()
      const [start, minute] = [clock.now(), 60_000]
      const minutesBefore: (number | undefined)[] = []
      for (let sent = 0; sent < 4; sent += 1) {
        const last_at = await lastAt(sent % 2 === 0 ? limits : process())
        minutesBefore.push(last_at && (last_at - start) / minute)
        await clock.advance(50 * minute)
      }
      expect(minutesBefore).to.deep.equal([undefined, 0, 0, 100])
      const { undo } = await reserve(limits, quotasOf('send', rules))
      await undo()
      expect(((await lastAt(limits)) ?? 0) - start).to.equal(100 * minute)
    })

    it('not one that this limit refused', async () => {
      const limits = process()
      const counted = clock.now()
      const daily = { ...rules, sends: rule(2, DAY) }
      for (let sent = 0; sent < 2; sent += 1) await reserve(limits, quotasOf('send', daily))
      await clock.advance(2 * 3_600_000)
      expect((await reserve(limits, quotasOf('send', daily))).refusal?.scope).to.equal('recipient')
      expect((await reserve(process(), quotasOf('send', { ...daily, sends: rule(3, DAY) }))).last_at).to.equal(counted)
    })

    it('also if one of those that were counted with it is given back', async () => {
      const limits = process()
      await (await reserve(limits, quotasOf('send', rules))).undo()
      await clock.advance(1_000)
      const counted = clock.now()
      const [first] = await Promise.all([1, 2].map(() => reserve(limits, quotasOf('send', rules))))
      await first?.undo()
      expect(await lastAt(limits)).to.equal(counted)
    })
  })

  describe('when it is full', () => {
    const scopeAndWait = ({ refusal }: Reservation) => ({ scope: refusal?.scope, wait: refusal?.retry_after_ms })
    const [ofSends, ofMessages, ofApp] = [rule(1, 60), rule(1, 600), rule(1, 30)]
    /** The wait after one count in a window that began at `now`. */
    const waitOf = (rules: LimitRule[]): number => {
      const model = createWindowModel(rules)
      model.take(clock.now())
      return model.waitAt(clock.now())
    }

    for (const [title, seen] of [
      ['a process that has not seen it full', false],
      ['a process that has', true],
    ] as const) {
      const refuse = async (first: Call, call: Call, rules: Rules): Promise<Reservation> => {
        const limits = process()
        await reserve(limits, quotasOf(first, rules))
        if (seen) await reserve(limits, quotasOf(call, rules))
        return reserve(limits, quotasOf(call, rules))
      }

      it(`says how long to wait for the sends, also if the messages take longer, in ${title}`, async () => {
        const refused = await refuse('send', 'send', { sends: ofSends, messages: ofMessages })
        expect(scopeAndWait(refused)).to.deep.equal({ scope: 'recipient', wait: waitOf(ofSends) })
      })

      it(`says how long to wait for the messages if only they are full, in ${title}`, async () => {
        const refused = await refuse('message', 'send', { sends: ofSends, messages: ofMessages })
        expect(scopeAndWait(refused)).to.deep.equal({ scope: 'recipient', wait: waitOf(ofMessages) })
        expect(await countsOf()).to.include({ messages_s600: 1 })
        expect((await countsOf()).s60 ?? 0, 'all or none').to.equal(0)
      })

      it(`refuses with its messages after the other limits, in ${title}`, async () => {
        const rules = { sends: rule(9), messages: ofMessages, app: ofApp }
        await reserve(process(), quotasOf('link', rules))
        const refused = await refuse('message', 'send', rules)
        expect(scopeAndWait(refused)).to.deep.equal({ scope: 'app_without_client_ip', wait: waitOf(ofApp) })
      })
    }

    it('is remembered apart for sends and messages: a granted message does not let full sends take from other limits', async () => {
      const limits = process()
      const rules = { sends: rule(1), messages: rule(9) }
      await reserve(limits, quotasOf('send', rules))
      await reserve(limits, quotasOf('send', rules))
      await reserve(limits, quotasOf('message', rules))
      const taken: Quota[] = []
      const watched = {
        ...limits,
        take: (quota: Quota) => {
          taken.push(quota)
          return limits.take(quota)
        },
      }
      expect((await reserve(watched, quotasOf('send', rules))).refusal?.scope).to.equal('recipient')
      expect(taken).to.deep.equal([])
    })
  })

  const anyMax = fc.integer({ min: 0, max: 4 })

  it('grants a call exactly while each of its limits has one left, and gives back exactly what was taken', async () => {
    let apps = 0
    const anyStep = fc.oneof({ weight: 3, arbitrary: anyCall }, { weight: 1, arbitrary: fc.nat(9) })
    await fc.assert(
      fc.asyncProperty(
        anyMax,
        anyMax,
        fc.array(anyStep, { minLength: 5, maxLength: 25 }),
        async (sends, messages, steps) => {
          apps += 1
          const app_id = `app_${apps}`
          const processes = [process(), process()]
          const rules = { sends: rule(sends), messages: rule(messages) }
          const used = { sends: 0, messages: 0 }
          const granted: { call: Call; undo(): Promise<void> }[] = []
          const count = (call: Call, by: number): void => {
            used.sends += isSend(call) ? by : 0
            used.messages += isMessage(call) ? by : 0
          }
          for (const [nth, step] of steps.entries()) {
            if (typeof step === 'number') {
              const [back] = granted.splice(step, 1)
              await back?.undo()
              if (back) count(back.call, -1)
              continue
            }
            const limits = processes[nth % 2] as ReturnType<typeof process>
            const { refusal, undo } = await reserve(limits, quotasOf(step, rules, app_id))
            const fits = !(isSend(step) && used.sends >= sends) && !(isMessage(step) && used.messages >= messages)
            expect(refusal?.scope ?? 'granted').to.equal(fits ? 'granted' : 'recipient')
            if (fits) {
              count(step, 1)
              granted.push({ call: step, undo })
            }
            const counts = await countsOf(`${app_id}:live:sends:server:ada`)
            expect([counts.s600 ?? 0, counts.messages_s600 ?? 0]).to.deep.equal([used.sends, used.messages])
          }
        },
      ),
      { numRuns: propertyRuns(25) },
    )
  })

  it('passes neither limit when calls of several processes race, and counts exactly those that were granted', async () => {
    let apps = 0
    const calls = fc.array(anyCall, { minLength: 5, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(anyMax, anyMax, anyMax, calls, async (sends, messages, app, all) => {
        apps += 1
        const app_id = `app_${apps}`
        const processes = [process(), process(), process()]
        const rules = { sends: rule(sends), messages: rule(messages), app: rule(app) }
        const answers = await Promise.all(
          all.map(async (call, nth) => {
            const limits = processes[nth % processes.length] as ReturnType<typeof process>
            return { call, ...(await reserve(limits, quotasOf(call, rules, app_id))) }
          }),
        )
        const granted = answers.filter(({ refusal }) => !refusal)
        const taken = {
          sends: granted.filter(({ call }) => isSend(call)).length,
          messages: granted.filter(({ call }) => isMessage(call)).length,
        }
        expect(taken.sends).to.be.at.most(Math.min(sends, app))
        expect(taken.messages).to.be.at.most(messages)
        const key = `${app_id}:live:sends:server:ada`
        const counts = async () => {
          const { s600 = 0, messages_s600 = 0 } = await countsOf(key)
          return { sends: s600, messages: messages_s600 }
        }
        expect(await counts()).to.deep.equal(taken)
        await Promise.all(granted.map(({ undo }) => undo()))
        expect(await counts()).to.deep.equal({ sends: 0, messages: 0 })
      }),
      { numRuns: propertyRuns(25) },
    )
  })
})
