// Claims on idempotency keys while data keys rotate: a key has an index under each data key, and processes know one of them or both.
import { expect } from 'chai'
import fc from 'fast-check'
import type { Clock } from '../../../../infra/clock.ts'
import type { Docs } from '../../../../infra/store/docs.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { KeyedClaim } from '../../../../machines/calls.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { CLAIM_HELD_MS, MAX_AGE_OF_TAKEN_OVER_ID_MS } from '../../../../services/domain/verifications/claim-holds.ts'
import type { ClaimDoc, OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { type Claims, createClaims } from '../../../../services/otp/calls/idempotency-claims.ts'
import { testClock } from '../../../support/clock.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { scheduledStep } from '../../../support/scheduled-step.ts'
import { eachStore } from '../../../support/stores.ts'

const HOUR = 3_600_000
/** In the future, because MongoDB removes what is past its `purge_at`. */
const START = testClock().now()

/** What a process knows. In a rotation a process that knows the old key only never meets one that knows the new key only. */
const KEY_SETS = { first: ['a'], second: ['b'], both: ['a', 'b'] } as const
type KeySet = keyof typeof KEY_SETS
const STAGES: readonly (readonly KeySet[])[] = [
  ['first', 'both'],
  ['second', 'both'],
]

/** One call in one process. */
interface Caller {
  keys: KeySet
  /** The process dies before its n-th operation on the store. */
  dies: number
  /** The send is refused for another reason, and its claim released. */
  refused: boolean
}

class Dead extends Error {}

eachStore('idempotency claims under several data keys', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })
  const insertOtp = (otp_id: string) =>
    store.docs('otps').insert([{ _id: otp_id, rev: 1, outbox: [] } as unknown as OtpDoc])
  const storedIds = async (): Promise<string[]> =>
    (await store.docs('claims').find({}, { sort: { _id: 1 }, limit: 100 })).map(({ _id }) => _id)
  const key = (...ids: string[]): KeyedClaim => ({ ids, sealed_key: 'sealed' })

  describe('of a key that was bound under one of them', () => {
    for (const bound of ['a', 'b'])
      it(`find it by both, and leave nothing behind (${bound})`, async () => {
        const claims = createClaims({ claims: store.docs('claims'), otps: store.docs('otps'), clock: testClock() })
        await claims.claim(key(bound), 'otp_1', HOUR)
        await insertOtp('otp_1')
        const again = await claims.claim(key('a', 'b'), 'otp_2', HOUR)
        expect(again.kind === 'bound' && again.otp._id).to.equal('otp_1')
        expect(await storedIds()).to.deep.equal([bound])
      })
  })

  it('release what they hold when another call keeps them waiting', async () => {
    const clock: Clock = {
      now: () => START,
      after(_, done) {
        setImmediate(done)
        return () => {}
      },
    }
    const claims = createClaims({ claims: store.docs('claims'), otps: store.docs('otps'), clock })
    await claims.claim(key('b'), 'otp_1', HOUR)
    const outcome = await claims.claim(key('a', 'b'), 'otp_2', HOUR).catch(error => error)
    expect(outcome).to.be.instanceOf(Unavailable)
    expect(await storedIds()).to.deep.equal(['b'])
  })

  let runs = 0
  /** Runs the calls in the scheduler's order, then after a while one more call of each kind of process. Answers the ids of all
   *  verifications made. */
  async function play(
    scheduler: fc.Scheduler,
    stage: readonly KeySet[],
    callers: readonly Caller[],
    quietMs: number,
  ): Promise<string[]> {
    runs += 1
    const run = runs
    let now = START
    const made = new Set<string>()
    const clock: Clock = {
      now: () => now,
      after(ms, done) {
        void scheduler.schedule(Promise.resolve(), 'poll').then(() => {
          now += ms
          done()
        })
        return () => {}
      },
    }
    const claimFor = (keys: KeySet): KeyedClaim => key(...KEY_SETS[keys].map(id => `${run}:${id}`))

    async function send(
      claims: Claims,
      { keys, refused }: Pick<Caller, 'keys' | 'refused'>,
      otp_id: string,
      beforeInsert: () => Promise<void> = async () => {},
    ) {
      const claim = await claims.claim(claimFor(keys), otp_id, HOUR)
      if (claim.kind === 'bound') return claim.otp._id
      if (refused) return claims.release(claim)
      await beforeInsert()
      await insertOtp(claim.otp_id)
      made.add(claim.otp_id)
      return claim.otp_id
    }

    const sends = callers.map(async (caller, nth) => {
      let operations = 0
      const step = async <T>(name: string, operation: () => Promise<T>): Promise<T> => {
        operations += 1
        if (operations >= caller.dies) throw new Dead()
        return scheduledStep(scheduler, `${nth} ${name}`, operation)
      }
      const { insert, get, modify, remove } = store.docs('claims')
      const claims = {
        get: ids => step('get', () => get(ids)),
        insert: docs => step('insert', () => insert(docs)),
        modify: (filter, update) => step('modify', () => modify(filter, update)),
        remove: (filter, limit) => step('remove', () => remove(filter, limit)),
      } as Docs<ClaimDoc>
      const otps = { get: (ids: readonly string[]) => step('otps', () => store.docs('otps').get(ids)) }
      await send(createClaims({ claims, otps, clock }), caller, `otp_${run}_${nth}`, () =>
        step('insert otp', async () => {}),
      ).catch(error => {
        if (!(error instanceof Dead || error instanceof Unavailable)) throw error
      })
    })
    await scheduler.waitFor(Promise.all(sends))

    now += quietMs
    const claims = createClaims({ claims: store.docs('claims'), otps: store.docs('otps'), clock })
    for (const keys of stage)
      expect(await send(claims, { keys, refused: false }, `otp_${run}_last_${keys}`)).to.equal([...made][0])
    return [...made]
  }

  const caller = (stage: readonly KeySet[]): fc.Arbitrary<Caller> =>
    fc.record({
      keys: fc.constantFrom(...stage),
      dies: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constant(Number.POSITIVE_INFINITY)),
      refused: fc.boolean(),
    })

  for (const stage of STAGES)
    it(`make one verification, whatever order the calls take and wherever they die (${stage.join(' and ')})`, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(caller(stage), { minLength: 2, maxLength: 4 }),
          fc.constantFrom(CLAIM_HELD_MS, MAX_AGE_OF_TAKEN_OVER_ID_MS),
          async (scheduler, calls, quietMs) => {
            expect(await play(scheduler, stage, calls, quietMs)).to.have.length(1)
          },
        ),
        { numRuns: propertyRuns(35) },
      )
    })
})
