import { expect } from 'chai'
import { CallTimeout } from '../../../../infra/broker/broker.ts'
import { newId } from '../../../../infra/ids.ts'
import { Unavailable } from '../../../../infra/unavailable.ts'
import type { CallOf, Identity, OtpCall } from '../../../../machines/calls.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { solutionOf } from '../../../support/challenges.ts'
import { eventually } from '../../../support/eventually.ts'
import { CACHE_TTL_MS } from '../../../support/flow.ts'
import { createGate } from '../../../support/gate.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { overrideDocs } from '../../../support/override-docs.ts'
import { addApp, SERVER, sendCall } from '../../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../../support/tenancy.ts'

/** The tallies of a number's country and range are read together. */
const RANGE_AND_COUNTRY_READS = 1
const CLAIM = { ids: ['claim'], sealed_key: 'sealed' }

onEmbeddedStore('a send', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  let actor: TestActor
  beforeEach(async () => {
    store = await fresh()
    await addApp(store, { limits: { recipient: [{ max: 2, seconds: 600 }] } })
    actor = await startOtpActor(store, keyring)
  })
  afterEach(() => actor.close())

  const call = (more: Partial<CallOf<'otp.send'>> = {}): OtpCall =>
    sendCall(keyring, '+447911123456', { at: actor.clock.now(), ...more })
  /** The second delivery takes from no limit. */
  const withoutLimit = (answer: object | undefined) => ({ ...answer, limit: null })
  const stored = async () =>
    (await store.docs('otps').find({ app_id: 'app_1' }, { sort: { _id: -1 }, limit: 9 })).length

  it('makes one verification when its call is delivered twice', async () => {
    for (const [nth, claim] of [null, CLAIM].entries()) {
      const twice = call({ claim })
      const answers = [await actor.ask(twice, `message ${nth}`), await actor.ask(twice, `message ${nth}`)]
      expect(answers[0]).to.include({ kind: 'verification' }).and.not.have.property('replayed')
      expect(withoutLimit(answers[1])).to.deep.equal(withoutLimit(answers[0]))
      expect(await stored(), 'the second delivery is not counted').to.equal(nth + 1)
    }
  })

  it('whose call is delivered twice is not refused by the challenge that it has spent itself', async () => {
    await store.docs('apps').modify({ _id: 'app_1' }, { $set: { settings: { publishable_challenge: 'always' } } })
    await actor.clock.advance(CACHE_TTL_MS)
    const by: Identity = { ...SERVER, key_id: 'key_device', kind: 'publishable' }
    for (const claim of [null, CLAIM]) {
      const asked = await actor.ask(call({ by, claim }))
      const challenge_solution = solutionOf({ body: asked })
      const twice = call({ by, claim, challenge_solution })
      const answers = [await actor.ask(twice, 'message'), await actor.ask(twice, 'message')]
      expect(answers[0]).to.include({ kind: 'verification' })
      expect(withoutLimit(answers[1])).to.deep.equal(withoutLimit(answers[0]))
      const again = await actor.ask(call({ by, challenge_solution }))
      expect(again, 'it stays spent').to.include({ kind: 'refused', error: 'ChallengeRequiredError' })
    }
  })

  it('leaves no verification, no count and no claim when it is refused', async () => {
    for (const _ of [1, 2]) await actor.ask(call())
    const refused = await actor.ask(call({ claim: CLAIM }))
    expect(refused).to.include({ kind: 'refused', error: 'RateLimitExceededError', scope: 'recipient' })
    const other = keyring.seal('+447911123457', inFlight.recipient)
    expect((await actor.ask(call({ claim: CLAIM, sealed_recipient: other }))).kind).to.equal('verification')
    expect(await stored()).to.equal(3)
    const apps = [...(await store.docs('counters').get(['app_1:test:without_ip:server'])).values()]
    expect(apps[0]?.windows.s60?.count).to.equal(3)
  })

  it('of a login that does not wait any longer leaves nothing, because its code is dead', async () => {
    const { released, release } = createGate()
    const slow = overrideDocs(store, 'counters', ({ get, insert, update }) => ({
      get: ids => released.then(() => get(ids)),
      insert: docs => released.then(() => insert(docs)),
      update: updates => released.then(() => update(updates)),
    }))
    const late = await startOtpActor(slow, keyring)
    const otp_id = newId('msg', late.clock.now())
    const sealed_code = keyring.seal('482913', inFlight.code)
    const asked = late.ask(call({ otp_id, sealed_code, from_login: true, claim: CLAIM })).catch(error => error)
    const claimed = async () => (await store.docs('claims').get(CLAIM.ids)).size
    await eventually(async () => expect(await claimed()).to.equal(1))
    await late.clock.advance(10_000)
    expect(await asked).to.be.instanceOf(CallTimeout)
    release()
    await eventually(async () => expect(await claimed()).to.equal(0))
    expect(await stored()).to.equal(0)
    const counted = [...(await store.docs('counters').get(['app_1:test:hooks'])).values()]
    expect(counted[0]?.windows.s60?.count ?? 0).to.equal(0)
    await late.close()
  })

  it('counts for one recipient when an email address is spelled in different ways', async () => {
    const to = (address: string) => actor.ask(call({ sealed_recipient: keyring.seal(address, inFlight.recipient) }))
    expect((await to('ada@example.com')).kind).to.equal('verification')
    expect((await to('Ada@EXAMPLE.com')).kind).to.equal('verification')
    expect(await to('ADA@example.com')).to.include({ kind: 'refused', scope: 'recipient' })
    expect((await to('eda@example.com')).kind).to.equal('verification')
  })

  it('releases its claim when it meets a bug', async () => {
    // The address is read after the claim is taken.
    const broken = call({ claim: CLAIM, sealed_client_ip: 'not sealed' })
    expect((await actor.ask(broken)).kind).to.equal('broken')
    expect((await store.docs('claims').get(CLAIM.ids)).size).to.equal(0)
    expect((await actor.ask(call({ claim: CLAIM }))).kind).to.equal('verification')
  })

  it('is not delayed by a hundred others that wait for their idempotency keys', async () => {
    const now = actor.clock.now()
    const times = {
      held_until: now + 30_000,
      claimed_at: now,
      expires_at: now + 86_400_000,
      purge_at: new Date(now + 90_000_000),
    }
    const keys = Array.from({ length: 100 }, (_, nth) => `held by a dead process ${nth}`)
    await store.docs('claims').insert(keys.map(_id => ({ _id, otp_id: newId('otp', now), sealed_key: '', ...times })))
    for (const id of keys) actor.ask(call({ claim: { ids: [id], sealed_key: '' } })).catch(() => {})
    // The test clock stands still, so none of these is answered.
    expect((await actor.ask(call())).kind).to.equal('verification')
  })

  it('is judged by what the guard reads while the limits are counted, so that it does not fall behind the others of its group', async () => {
    const steps: string[] = []
    const other = await startOtpActor(
      watchStore({ onRead: () => steps.push('read'), onCount: () => steps.push('counted') }),
      keyring,
    )
    expect(await other.ask(call())).to.include({ kind: 'verification' })
    await other.close()
    expect(steps[0]).to.equal('read')
    expect(steps).to.include('counted')
  })

  it('is judged by what the guard reads again, when it could not be read while the limits were counted', async () => {
    let reads = 0
    const onRead = (): void => {
      reads += 1
      if (reads <= RANGE_AND_COUNTRY_READS) throw new Unavailable('away')
    }
    const other = await startOtpActor(watchStore({ onRead }), keyring)
    expect(await other.ask(call())).to.include({ kind: 'verification' })
    await other.close()
    expect(reads).to.equal(2 * RANGE_AND_COUNTRY_READS)
  })

  /** Calls `onRead` before the guard's counts are read, and `onCount` after a limit was counted. */
  const watchStore = ({
    onRead = () => {},
    onCount = () => {},
  }: {
    onRead?(): void
    onCount?(): void
  }): CountersignStore => {
    const counted = interceptWrites(store, { after: call => call === 'counters.insert' && onCount() })
    return overrideDocs(counted, 'fraud_tallies', ({ get }) => ({
      async get(...args) {
        onRead()
        return get(...args)
      },
    }))
  }
})
