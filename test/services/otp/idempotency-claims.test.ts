import { expect } from 'chai'
import type { KeyedClaim } from '../../../machines/calls.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { type Claim, createClaims, type HeldClaim } from '../../../services/otp/idempotency-claims.ts'
import { type TestClock, testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { eachStore } from '../../support/stores.ts'

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

  it('are held by the first call, and bound once the verification exists', async () => {
    const claims = process()
    expect(await claims.claim(key('c'), 'otp_1', HOUR)).to.include({ kind: 'held', otp_id: 'otp_1' })
    await insertOtp('otp_1')
    const again = await claims.claim(key('c'), 'otp_2', HOUR)
    expect(again.kind === 'bound' && again.otp._id).to.equal('otp_1')
  })

  it('make other calls wait, and then give all of them the same verification', async () => {
    const [one, other] = [process(), process()]
    await one.claim(key('c'), 'otp_1', HOUR)
    const others = Promise.all(['otp_2', 'otp_3'].map(otp_id => other.claim(key('c'), otp_id, HOUR)))
    await insertOtp('otp_1')
    const answers = await eventually(async () => {
      await clock.advance(25)
      return Promise.race([others, Promise.reject(new Error('still waiting'))])
    })
    expect(answers.map(answer => answer.kind === 'bound' && answer.otp._id)).to.deep.equal(['otp_1', 'otp_1'])
  })

  it('are free again when the send was refused', async () => {
    const claims = process()
    await claims.release(await held(claims.claim(key('c'), 'otp_1', HOUR)))
    expect(await claims.claim(key('c'), 'otp_2', HOUR)).to.include({ kind: 'held', otp_id: 'otp_2' })
  })

  it('can be taken over from a dead process, with the same verification id', async () => {
    const claims = process()
    await claims.claim(key('c'), 'otp_1', HOUR)
    await clock.advance(30_000)
    expect(await claims.claim(key('c'), 'otp_2', HOUR)).to.include({ kind: 'held', otp_id: 'otp_1' })
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

  it('expire, and then the same key starts a new verification', async () => {
    const claims = process()
    await claims.claim(key('c'), 'otp_1', HOUR)
    await insertOtp('otp_1')
    await clock.advance(HOUR)
    expect(await claims.claim(key('c'), 'otp_2', HOUR)).to.include({ kind: 'held', otp_id: 'otp_2' })
  })
})
