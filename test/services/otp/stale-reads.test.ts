// A primary of the store that was frozen and wakes answers from the past for a moment. No report is dropped because of that.
import { expect } from 'chai'
import { newId } from '../../../infra/ids.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import type { OtpReport } from '../../../services/domain/verifications/queue-messages.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { addApp, SERVER as by, reportStatus, sendOtp, storedOtp } from '../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring, withStaleReads } from '../../support/tenancy.ts'

const RECIPIENT = '+14155550123'

onEmbeddedStore('a report to an actor whose store answers from the past', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  const actors: TestActor[] = []
  beforeEach(async () => {
    store = await fresh()
    const channels = { whatsapp: { mode: 'link_inbound', business_number: '+15550001111' } }
    await addApp(store, { resend_cooldown_seconds: [0], channels })
  })
  afterEach(() => Promise.all(actors.splice(0).map(actor => actor.close())))

  const start = async (on: CountersignStore): Promise<TestActor> => {
    const actor = await startOtpActor(on, keyring)
    actors.push(actor)
    return actor
  }
  /** A verification before a resend and after it. */
  async function resent(channel: Channel): Promise<{ before: OtpDoc; after: OtpDoc }> {
    const actor = await start(store)
    const { otp_id } = await sendOtp(actor, store)
    const before = await storedOtp(store, otp_id)
    await actor.ask({ type: 'otp.resend', by, otp_id, channel })
    return { before, after: await storedOtp(store, otp_id) }
  }

  it('changes a delivery that was made since', async () => {
    const { before, after } = await resent('telegram')
    const delivery_id = after.context.deliveries.at(-1)?.delivery_id ?? ''
    await reportStatus(await start(withStaleReads(store, [before])), { otp_id: after._id, delivery_id }, 'delivered')
    const { deliveries } = (await storedOtp(store, after._id)).context
    expect(deliveries.map(({ status }) => status)).to.deep.equal(['queued', 'delivered'])
  })

  it('is dropped if the verification has no such delivery in truth', async () => {
    const { before, after } = await resent('telegram')
    const delivery_id = newId('dlv', 0)
    await reportStatus(await start(withStaleReads(store, [before])), { otp_id: after._id, delivery_id }, 'delivered')
    expect(await storedOtp(store, after._id)).to.deep.equal(after)
  })

  it('approves by the message of a link that was made since', async () => {
    const { before, after } = await resent('whatsapp')
    const actor = await start(withStaleReads(store, [before]))
    const body: OtpReport = {
      type: 'message.received',
      app_id: 'app_1',
      mode: 'test',
      sealed_from: keyring.seal(RECIPIENT, inFlight.from),
      references: [after.reference ?? ''],
      at: actor.clock.now(),
    }
    await actor.broker.publish('otp.reports', { id: 'message', body })
    expect(await storedOtp(store, after._id)).to.include({ value: 'approved' })
  })
})
