import { expect } from 'chai'
import type { KeyedClaim } from '../../../../machines/calls.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { CLAIM_HELD_MS } from '../../../../services/domain/verifications/claim-holds.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { type Claim, createClaims, type HeldClaim } from '../../../../services/otp/calls/idempotency-claims.ts'
import { type TestClock, testClock } from '../../../support/clock.ts'
import { eventuallyAdvancing } from '../../../support/eventually.ts'
import { eachStore } from '../../../support/stores.ts'

const HOUR = 3_600_000
/** An idempotency key by its indexes. */
const key = (...ids: string[]): KeyedClaim => ({ ids, sealed_key: 'sealed' })

eachStore('idempotency claims', fresh => {
  let clock: TestClock
  let store: CountersignStore
  beforeEach(async () => {
    clock = testClock()
    store = await fresh()
  })
  const process = () => createClaims({ claims: store.docs('claims'), otps: store.docs('otps'), clock })
  const held = async (claim: Promise<Claim>): Promise<HeldClaim> => {
    const result = await claim
    if (result.kind !== 'held') throw new Error('the claim is bound')
    return result
  }
  /** Claims only look whether the document exists. */
  const insertOtp = (otp_id: string) =>
    store.docs('otps').insert([{ _id: otp_id, rev: 1, outbox: [] } as unknown as OtpDoc])

  it('make other calls wait, and then give all of them the same verification', async () => {
    const [one, other] = [process(), process()]
    await one.claim(key('c'), 'otp_1', HOUR)
    const others = Promise.all(['otp_2', 'otp_3'].map(otp_id => other.claim(key('c'), otp_id, HOUR)))
    await insertOtp('otp_1')
    const answers = await eventuallyAdvancing(
      () => Promise.race([others, Promise.reject(new Error('still waiting'))]),
      clock,
      25,
    )
    expect(answers.map(answer => answer.kind === 'bound' && answer.otp._id)).to.deep.equal(['otp_1', 'otp_1'])
  })

  describe('on what a message says', () => {
    const content = (ids: string[], keys: string[] = []): KeyedClaim => ({
      ids: keys,
      ...(keys.length > 0 && { sealed_key: 'sealed' }),
      content: { ids, life_ms: 60_000, ...(keys.length > 0 && { keys }) },
    })

    it('lead every call with the same content to the first, with a key or without one, until they are over', async () => {
      const claims = process()
      expect(await claims.claim(content(['m'], ['k1']), 'msg_1', HOUR)).to.include({ kind: 'held' })
      await insertOtp('msg_1')
      for (const again of [content(['m']), content(['m'], ['k1']), content(['m', 'n'], ['k1', 'k2'])])
        expect((await claims.claim(again, 'msg_2', HOUR)).kind).to.equal('bound')
      expect([...(await store.docs('claims').get(['k2', 'n'])).keys()], 'nothing stays held').to.deep.equal([])
      await clock.advance(60_000)
      expect(await claims.claim(content(['m']), 'msg_3', HOUR)).to.include({ kind: 'held', otp_id: 'msg_3' })
      await insertOtp('msg_3')
      const kept = await claims.claim(content(['m'], ['k1']), 'msg_4', HOUR)
      expect(kept.kind === 'bound' && kept.otp._id, 'the key lives longer').to.equal('msg_1')
    })

    it('do not stop, or make wait, a call with another key', async () => {
      const claims = process()
      await claims.claim(content(['m'], ['k1']), 'msg_1', HOUR)
      const other = await held(claims.claim(content(['m'], ['k2']), 'msg_2', HOUR))
      await claims.release(other)
      expect([...(await store.docs('claims').get(['m', 'k1', 'k2'])).keys()].sort()).to.deep.equal(['k1', 'm'])
      await insertOtp('msg_1')
      expect((await claims.claim(content(['m'], ['k2']), 'msg_3', HOUR)).kind).to.equal('held')
    })

    it('of a process that died lead to its message, and then to another', async () => {
      await process().claim(content(['m']), 'msg_1', HOUR)
      await clock.advance(CLAIM_HELD_MS)
      expect(await process().claim(content(['m'], ['k']), 'msg_2', HOUR)).to.include({ kind: 'held', otp_id: 'msg_1' })
    })
  })

  it('make a new verification when the process died long ago, and lead to it for as long as any other', async () => {
    const claims = process()
    await claims.claim(key('c'), 'otp_1', HOUR)
    await clock.advance(HOUR - 1)
    expect(await claims.claim({ ids: ['c'], sealed_key: 'sealed anew' }, 'otp_2', HOUR)).to.include({
      kind: 'held',
      otp_id: 'otp_2',
    })
    await insertOtp('otp_2')
    const stored = (await store.docs('claims').get(['c'])).get('c')
    expect(stored).to.include({ sealed_key: 'sealed anew', expires_at: clock.now() + HOUR })
    await clock.advance(HOUR - 1)
    const again = await claims.claim(key('c'), 'otp_3', HOUR)
    expect(again.kind === 'bound' && again.otp._id).to.equal('otp_2')
  })

  it('that are bound to an older verification do not outlive it', async () => {
    const claims = process()
    const pending = { status: 'pending', channel: 'sms', sealed_action_url: null, completion: 'code' } as const
    const answer = { otp_id: 'otp_2', ...pending }
    const endOf = async (purge_at: Date) => {
      await claims.bind(await held(claims.claim(key('c'), 'otp_2', HOUR)), { _id: 'otp_1', purge_at }, answer)
      const stored = (await store.docs('claims').get(['c'])).get('c')
      await store.docs('claims').remove({ _id: 'c' }, 1)
      return [stored?.expires_at, stored?.purge_at.getTime()].map(at => (at ?? 0) - clock.now())
    }
    expect(await endOf(new Date(clock.now() + 60_000))).to.deep.equal([60_000, 60_000 + CLAIM_HELD_MS])
    expect(await endOf(new Date(clock.now() + 2 * HOUR))).to.deep.equal([HOUR, HOUR + CLAIM_HELD_MS])
  })

  it('of a dead process that no call comes for are purged when they have expired', async () => {
    await process().claim(key('c'), 'otp_1', HOUR)
    const stored = (await store.docs('claims').get(['c'])).get('c')
    expect(stored?.purge_at).to.deep.equal(new Date(clock.now() + HOUR + CLAIM_HELD_MS))
  })

  it('can be taken over at once by the same call when it is delivered again', async () => {
    const dead = await held(process().claim(key('c'), 'otp_1', HOUR))
    await clock.advance(1_000)
    const claims = process()
    const again = await held(claims.claim(key('c'), 'otp_1', HOUR))
    expect(again.otp_id).to.equal('otp_1')
    await claims.release(dead)
    await insertOtp('otp_1')
    expect((await claims.claim(key('c'), 'otp_2', HOUR)).kind, 'the dead process has not released it').to.equal('bound')
  })

  it('are not released by a call that no longer holds them', async () => {
    const claims = process()
    const slow = await held(claims.claim(key('c'), 'otp_1', HOUR))
    await clock.advance(30_000)
    await claims.claim(key('c'), 'otp_2', HOUR)
    await claims.release(slow)
    await insertOtp('otp_1')
    expect((await claims.claim(key('c'), 'otp_2', HOUR)).kind).to.equal('bound')
  })

  it('know when their key was first used, by whichever call, until they expire', async () => {
    const claims = process()
    const claimed_at = clock.now()
    await claims.claim(key('c'), 'otp_1', HOUR)
    for (const ms of [30_000, HOUR / 2, HOUR - 1]) {
      await clock.advance(ms)
      expect(await claims.claim(key('c'), 'otp_2', HOUR), `${ms}`).to.include({ kind: 'held', claimed_at })
    }
    await clock.advance(HOUR)
    expect(await claims.claim(key('c'), 'otp_3', HOUR)).to.include({ kind: 'held', claimed_at: clock.now() })
  })
})
