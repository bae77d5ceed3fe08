// A send that is a resend of what is pending (`reuse_pending`), where processes die and other verifications are many.
import { expect } from 'chai'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import { CLAIM_HELD_MS } from '../../../../services/domain/verifications/claim-holds.ts'
import { eventually } from '../../../support/eventually.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { addApp, SERVER as by, sendCall, storedOtp, verifyOtp } from '../../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../../support/tenancy.ts'

const RECIPIENT = '+14155550123'

onEmbeddedStore('a send while a verification of the recipient is pending', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  const actors: TestActor[] = []
  beforeEach(async () => {
    store = await fresh()
    await addApp(store, { reuse_pending: true, resend_cooldown_seconds: [0] })
  })
  afterEach(() => Promise.all(actors.splice(0).map(actor => actor.close())))

  const start = async (on: CountersignStore): Promise<TestActor> => {
    const actor = await startOtpActor(on, keyring)
    actors.push(actor)
    return actor
  }
  const answerOf = (actor: TestActor, idempotency: string) =>
    actor.send({ company: 'cmp_1', app: 'app_1', recipient: RECIPIENT, idempotency })
  const send = async (actor: TestActor, idempotency = ''): Promise<string> =>
    (await answerOf(actor, idempotency)).otp_id
  const approve = async (actor: TestActor, otp_id: string): Promise<void> => {
    expect(await verifyOtp(actor, { store, keyring }, otp_id)).to.include({ matched: true })
  }
  const joinedTo = async (otp_id: string) =>
    ((await storedOtp(store, otp_id)).context.joined ?? []).map(one => one.otp_id)
  const deliveriesOf = async (otp_id: string) => (await storedOtp(store, otp_id)).context.deliveries.length

  for (const later of [CLAIM_HELD_MS, 10 * CLAIM_HELD_MS])
    it(`sends nothing more with its key if it died before the key was bound, ${later} ms later`, async () => {
      const living = await start(store)
      const otp_id = await send(living)
      const dying = await start(
        interceptWrites(store, { before: call => (call === 'claims.modify' ? new Promise(() => {}) : undefined) }),
      )
      void send(dying, 'key').catch(() => {})
      await eventually(async () => expect(await deliveriesOf(otp_id)).to.equal(2))
      const [joined] = await joinedTo(otp_id)
      await approve(living, otp_id)
      await living.clock.advance(later)
      for (let time = 0; time < 2; time += 1)
        expect(await answerOf(living, 'key')).to.include({ otp_id: joined, status: 'pending', replayed: true })
      expect(await deliveriesOf(otp_id)).to.equal(2)
      await send(living, 'another key')
      expect(await joinedTo(otp_id), 'it has ended').to.deep.equal([joined])
    })

  it('gets no second id when the call is delivered again, whatever became of the verification', async () => {
    const actor = await start(store)
    const otp_id = await send(actor)
    await actor.clock.advance(1)
    const call = sendCall(keyring, RECIPIENT, { at: actor.clock.now() })
    const first = await actor.ask(call, 'call')
    await approve(actor, otp_id)
    const again = await actor.ask(call, 'call')
    if (first.kind !== 'verification' || again.kind !== 'verification') return expect.fail('it was refused')
    expect(again.verification).to.deep.equal(first.verification)
    expect(await joinedTo(otp_id)).to.deep.equal([call.otp_id])
  })

  it('leads nowhere by the id of a send whose process died before it joined', async () => {
    const living = await start(store)
    const otp_id = await send(living)
    await living.clock.advance(1)
    const dying = await start(
      interceptWrites(store, { before: call => (call === 'otps.change' ? new Promise(() => {}) : undefined) }),
    )
    void send(dying).catch(() => {})
    const found = await eventually(async () => {
      const [stored] = await store.docs('joined_ids').find({}, { sort: { _id: 1 }, limit: 1 })
      return stored ?? expect.fail('it has no id yet')
    })
    expect(await joinedTo(otp_id)).to.deep.equal([])
    const canceled = await living.ask({ type: 'otp.cancel', by, otp_id: found._id })
    expect(canceled).to.include({ kind: 'refused', error: 'OtpNotFoundError' })
  })
})
