// Two OTP actors share a store. One has a verification in memory that the other may have changed or an erasure removed, or is told what
// the verification was: a primary of the store that was frozen and wakes answers from the past for a moment.
import { expect } from 'chai'
import { newId } from '../../../infra/ids.ts'
import type { OtpAnswer } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import type { OtpReport } from '../../../services/domain/verifications/queue-messages.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { overrideDocs } from '../../support/override-docs.ts'
import {
  addApp,
  SERVER as by,
  reportStatus,
  type SentOtp,
  sendOtp,
  storedOtp,
  verifyOtp,
} from '../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring, withStaleReads } from '../../support/tenancy.ts'

onEmbeddedStore('a verification that one actor has in memory', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  let [here, there] = [] as unknown as [TestActor, TestActor]
  let reads: number
  beforeEach(async () => {
    store = await fresh()
    const channels = { whatsapp: { mode: 'link_inbound', business_number: '+15550001111' } }
    await addApp(store, { resend_cooldown_seconds: [0], channels })
    reads = 0
    const counting = overrideDocs(store, 'otps', ({ get }) => ({
      get(ids, options) {
        reads += 1
        return get(ids, options)
      },
    }))
    here = await startOtpActor(counting, keyring)
    there = await startOtpActor(store, keyring)
  })
  afterEach(() => Promise.all([here.close(), there.close()]))

  const stored = (otp_id: string) => storedOtp(store, otp_id)
  const send = (): Promise<SentOtp> => sendOtp(here, store)
  const resend = (actor: TestActor, otp_id: string, channel: Channel) =>
    actor.ask({ type: 'otp.resend', by, otp_id, channel })
  const verify = (actor: TestActor, otp_id: string) => verifyOtp(actor, { store, keyring }, otp_id)
  const kindOf = (answer: OtpAnswer) => (answer.kind === 'refused' ? answer.error : answer.kind)

  it('is not read again for changes by the same actor', async () => {
    const sent = await send()
    await reportStatus(here, sent, 'sent')
    await reportStatus(here, sent, 'delivered')
    expect((await stored(sent.otp_id)).context.deliveries.map(({ status }) => status)).to.deep.equal(['delivered'])
    expect(reads).to.equal(0)
    await reportStatus(here, sent, 'sent')
    expect(reads, 'but before a report is dropped').to.equal(1)
  })

  it('takes a report on a delivery that the other actor has added', async () => {
    const { otp_id } = await send()
    await resend(there, otp_id, 'telegram')
    const latest = (await stored(otp_id)).context.deliveries.at(-1)
    await reportStatus(here, { otp_id, delivery_id: latest?.delivery_id ?? '' }, 'delivered')
    expect((await stored(otp_id)).context.deliveries.at(-1)?.status).to.equal('delivered')
  })

  it('is not approved here after the other actor has canceled it', async () => {
    const { otp_id } = await send()
    await there.ask({ type: 'otp.cancel', by, otp_id })
    expect(kindOf(await verify(here, otp_id))).to.equal('OtpNotPendingError')
    expect((await stored(otp_id)).value).to.equal('canceled')
  })

  it('is read again before a command is refused', async () => {
    const { otp_id } = await send()
    // This actor remembers a link and no code; the other actor has sent a code by sms since.
    await resend(here, otp_id, 'whatsapp')
    await resend(there, otp_id, 'sms')
    expect(await verify(here, otp_id)).to.include({ kind: 'verified', status: 'approved' })
  })

  it('loses its reference when it moves away from a link that the same actor has made', async () => {
    const { otp_id } = await send()
    await resend(here, otp_id, 'whatsapp')
    expect(await stored(otp_id)).to.have.property('reference')
    await resend(here, otp_id, 'sms')
    expect(await stored(otp_id)).not.to.have.property('reference')
  })

  it('is not found by a resend once it is erased, which gives back what it has counted', async () => {
    const { otp_id } = await send()
    const counted = async () => {
      const counters = await store.docs('counters').find({}, { sort: { _id: 1 }, limit: 100 })
      const counts = counters.map(
        ({ _id, windows }) => [_id, Object.values(windows).map(({ count }) => count)] as const,
      )
      return counts.filter(([, all]) => all.some(count => count > 0))
    }
    const before = await counted()
    await store.docs('otps').remove({ _id: otp_id }, 1)
    const answer = await here.ask({ type: 'otp.resend', by, otp_id, channel: null })
    expect(answer).to.include({ kind: 'refused', error: 'OtpNotFoundError' })
    expect(await counted()).to.deep.equal(before)
  })

  describe('and of which a report comes to an actor whose store answers from the past', () => {
    const actors: TestActor[] = []
    afterEach(() => Promise.all(actors.splice(0).map(actor => actor.close())))
    const startInPast = async (past: OtpDoc): Promise<TestActor> => {
      const actor = await startOtpActor(withStaleReads(store, [past]), keyring)
      actors.push(actor)
      return actor
    }
    /** A verification before a resend and after it. */
    async function resent(channel: Channel): Promise<{ before: OtpDoc; after: OtpDoc }> {
      const { otp_id } = await send()
      const before = await stored(otp_id)
      await resend(here, otp_id, channel)
      return { before, after: await stored(otp_id) }
    }

    it('changes a delivery that was made since', async () => {
      const { before, after } = await resent('telegram')
      const delivery_id = after.context.deliveries.at(-1)?.delivery_id ?? ''
      await reportStatus(await startInPast(before), { otp_id: after._id, delivery_id }, 'delivered')
      const { deliveries } = (await stored(after._id)).context
      expect(deliveries.map(({ status }) => status)).to.deep.equal(['queued', 'delivered'])
    })

    it('is dropped if the verification has no such delivery in truth', async () => {
      const { before, after } = await resent('telegram')
      const delivery_id = newId('dlv', 0)
      await reportStatus(await startInPast(before), { otp_id: after._id, delivery_id }, 'delivered')
      expect(await stored(after._id)).to.deep.equal(after)
    })

    it('approves by the message of a link that was made since', async () => {
      const { before, after } = await resent('whatsapp')
      const actor = await startInPast(before)
      const body: OtpReport = {
        type: 'message.received',
        app_id: 'app_1',
        mode: 'test',
        sealed_from: keyring.seal('+14155550123', inFlight.from),
        references: [after.reference ?? ''],
        at: actor.clock.now(),
      }
      await actor.broker.publish('otp.reports', { id: 'message', body })
      expect(await stored(after._id)).to.include({ value: 'approved' })
    })
  })
})
