// An idempotency key is copied to the index of a new data key while its verification is erased: in every order of their steps, nothing of
// the key is left.
import { expect } from 'chai'
import fc from 'fast-check'
import type { Doc, Docs } from '../../../infra/store/docs.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { eraseVerifications } from '../../../services/domain/privacy/erasure.ts'
import { CLAIM_HELD_MS, MAX_AGE_OF_TAKEN_OVER_ID_MS } from '../../../services/domain/verifications/claim-holds.ts'
import type { ClaimDoc, OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { atRest, idempotencyKeyContext } from '../../../services/domain/verifications/encryption-context.ts'
import { idempotencyIndexes } from '../../../services/domain/verifications/lookup-indexes.ts'
import { createClaims } from '../../../services/otp/calls/idempotency-claims.ts'
import { createReindexClaims } from '../../../services/sweeper/reindex-claims.ts'
import { testClock } from '../../support/clock.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { scheduledStep } from '../../support/scheduled-step.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

const HOUR = 3_600_000
const OWNER = { company_id: 'cmp_1', mode: 'test', kind: 'server' } as const

onEmbeddedStore('an idempotency key that is reindexed while its verification is erased', fresh => {
  const [before, during] = [testKeyring(1), testKeyring(2, 1)]
  const clock = testClock()
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })

  let runs = 0
  /** A verification with an idempotency key that only the old data key has indexed. */
  async function addVerification(): Promise<{ otp_id: string; key: string; claim: ClaimDoc }> {
    runs += 1
    const [otp_id, key] = [`otp_${runs}`, `order ${runs}`]
    const [_id = ''] = idempotencyIndexes(before, OWNER, key)
    const claim: ClaimDoc = {
      _id,
      otp_id,
      held_until: clock.now() - HOUR,
      claimed_at: clock.now() - HOUR,
      sealed_key: before.seal(key, idempotencyKeyContext(OWNER)),
      expires_at: clock.now() + HOUR,
      purge_at: new Date(clock.now() + HOUR),
    }
    const { company_id, mode, kind } = OWNER
    const context = { started_by: { kind }, code: {}, deliveries: [] }
    const otp = { _id: otp_id, company_id, mode, context, rev: 1, outbox: [], claims: [_id] }
    await store.docs('otps').insert([otp as unknown as OtpDoc])
    await store.docs('claims').insert([claim])
    return { otp_id, key, claim }
  }

  const storedClaims = async (key: string): Promise<ClaimDoc[]> => [
    ...(await store.docs('claims').get(idempotencyIndexes(during, OWNER, key))).values(),
  ]

  /** The store as one of two processes uses it: the scheduler decides when each of its steps is taken. */
  function scheduled(scheduler: fc.Scheduler, process: string): CountersignStore {
    const step = <T>(name: string, operation: () => Promise<T>): Promise<T> =>
      scheduledStep(scheduler, `${process} ${name}`, operation)
    const wrap = <T extends Doc>(name: string, docs: Docs<T>): Docs<T> => ({
      ...docs,
      get: ids => step(`${name}.get`, () => docs.get(ids)),
      insert: list => step(`${name}.insert`, () => docs.insert(list)),
      update: updates => step(`${name}.update`, () => docs.update(updates)),
      modify: (filter, update) => step(`${name}.modify`, () => docs.modify(filter, update)),
      // MongoDB first looks which documents there are and then removes those, so others may come in between.
      async remove(filter, limit) {
        const { _id } = filter as { _id?: { $in?: string[] } }
        if (_id?.$in === undefined) return step(`${name}.remove`, () => docs.remove(filter, limit))
        const found = await step(`${name}.look`, () => docs.get(_id.$in ?? []))
        return step(`${name}.remove`, () => docs.remove({ ...filter, _id: { $in: [...found.keys()] } }, limit))
      },
    })
    return { ...store, docs: name => wrap(name, store.docs(name)) }
  }

  /** A verification, and the two processes that reindex its key and erase it at once. */
  async function addRace(scheduler: fc.Scheduler) {
    const { otp_id, key, claim } = await addVerification()
    const [sweeper, eraser] = [scheduled(scheduler, 'sweeper'), scheduled(scheduler, 'eraser')]
    const reindexClaims = createReindexClaims({ store: sweeper, keyring: during, clock })
    return {
      otp_id,
      key,
      reindex: () => reindexClaims([claim]),
      erase: async () => eraseVerifications(eraser, [...(await eraser.docs('otps').get([otp_id])).values()]),
    }
  }

  const url = 'https://wa.me/15005550100'
  const answerTo = (otp_id: string, keyring = before) => {
    const answer = { otp_id, status: 'pending', channel: 'whatsapp', completion: 'code' } as const
    return { ...answer, sealed_action_url: keyring.seal(url, atRest.link(otp_id)) }
  }
  const copyOf = async (key: string) =>
    [...(await store.docs('claims').get(idempotencyIndexes(testKeyring(2), OWNER, key))).values()][0]

  it('is copied with the answer of its call, and the new data key alone opens key and link', async () => {
    const { otp_id, key, claim } = await addVerification()
    const answer = answerTo(otp_id)
    const reindex = createReindexClaims({ store, keyring: during, clock })
    expect(await reindex([{ ...claim, answer }])).to.deep.equal({ renewed: 1, unsealable: 0 })
    const { _id, sealed_key, answer: copied = answer, ...times } = (await copyOf(key)) ?? claim
    const { claimed_at, expires_at, purge_at } = claim
    expect(times).to.deep.equal({ otp_id, held_until: 0, claimed_at, expires_at, purge_at })
    expect(testKeyring(2).unseal(sealed_key ?? '', idempotencyKeyContext(OWNER))).to.equal(key)
    expect({ ...copied, sealed_action_url: '' }).to.deep.equal({ ...answer, sealed_action_url: '' })
    expect(testKeyring(2).unseal(copied.sealed_action_url ?? '', atRest.link(otp_id))).to.equal(url)
  })

  it('gets a link that the new data key opens, also where the key itself was sealed with that', async () => {
    const { otp_id, key, claim } = await addVerification()
    const [_id = ''] = idempotencyIndexes(during, OWNER, key)
    const sealed_key = during.seal(key, idempotencyKeyContext(OWNER))
    const newer = { ...claim, _id, sealed_key, answer: answerTo(otp_id) }
    await store.docs('claims').insert([newer])
    const reindex = createReindexClaims({ store, keyring: during, clock })
    expect(await reindex([newer])).to.deep.equal({ renewed: 1, unsealable: 0 })
    const renewed = (await store.docs('claims').get([_id])).get(_id)
    expect(during.isCurrent(renewed?.answer?.sealed_action_url ?? '')).to.equal(true)
    expect(await reindex(renewed ? [renewed] : [])).to.deep.equal({ renewed: 0, unsealable: 0 })
  })

  it('is copied with a link that no data key opens, which is told and asks for no further pass', async () => {
    const { otp_id, key, claim } = await addVerification()
    const answer = answerTo(otp_id, testKeyring(3))
    const reindex = createReindexClaims({ store, keyring: during, clock })
    expect(await reindex([{ ...claim, answer }])).to.deep.equal({ renewed: 0, unsealable: 1 })
    const copy = await copyOf(key)
    expect(copy?.answer).to.deep.equal(answer)
    expect(await reindex(copy ? [copy] : [])).to.deep.equal({ renewed: 0, unsealable: 1 })
  })

  it('waits for a call that holds the new index, and removes what such a call has left when it died', async () => {
    const { otp_id, key, claim } = await addVerification()
    const [_id = ''] = idempotencyIndexes(during, OWNER, key)
    const held = {
      ...claim,
      _id,
      otp_id: 'otp_never',
      held_until: clock.now() + CLAIM_HELD_MS,
      claimed_at: clock.now(),
    }
    await store.docs('claims').insert([held])
    const later = testClock(clock.now() + MAX_AGE_OF_TAKEN_OVER_ID_MS)
    const reindexAt = (now: typeof clock) => createReindexClaims({ store, keyring: during, clock: now })([claim])
    const holders = async () => (await storedClaims(key)).map(one => one.otp_id).sort()
    expect(await reindexAt(clock)).to.deep.equal({ renewed: 1, unsealable: 0 })
    expect(await holders()).to.deep.equal(['otp_never', otp_id].sort())
    await reindexAt(later)
    await reindexAt(later)
    expect(await holders()).to.deep.equal([otp_id, otp_id])
    expect(await createReindexClaims({ store, keyring: testKeyring(3), clock })([claim])).to.include({ unsealable: 1 })
  })

  it('is erased under every index, whatever order the steps take', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async scheduler => {
        const { otp_id, key, reindex, erase } = await addRace(scheduler)
        await scheduler.waitFor(Promise.all([reindex(), erase()]))
        expect((await store.docs('otps').get([otp_id])).size).to.equal(0)
        expect(await storedClaims(key)).to.deep.equal([])
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it('makes one verification when it is used again meanwhile, and that one keeps the key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async scheduler => {
        const { otp_id, key, reindex, erase } = await addRace(scheduler)
        const caller = scheduled(scheduler, 'caller')
        const claims = createClaims({ claims: caller.docs('claims'), otps: caller.docs('otps'), clock })
        const ids = idempotencyIndexes(during, OWNER, key).sort()
        const sealed_key = during.seal(key, idempotencyKeyContext(OWNER))
        const send = () => claims.claim({ ids, sealed_key }, `${otp_id}_next`, HOUR)
        const [claimed] = await scheduler.waitFor(Promise.all([send(), reindex(), erase()]))
        // A call that was answered before the erasure leaves nothing, and one after it holds the whole key.
        const left = (await storedClaims(key)).map(one => one.otp_id)
        if (claimed.kind === 'bound') expect(left).to.deep.equal([])
        else expect([claimed.otp_id, ...left]).to.deep.equal(Array(3).fill(`${otp_id}_next`))
      }),
      { numRuns: propertyRuns(50) },
    )
  })
})
