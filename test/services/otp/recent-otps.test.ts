// Two OTP actors share a store. One has a verification in memory that the other may have changed.
import { expect } from 'chai'
import type { OtpAnswer } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
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
import { testKeyring } from '../../support/tenancy.ts'

onEmbeddedStore('a verification that one actor has in memory', fresh => {
  const keyring = testKeyring()
  let store: CountersignStore
  let [here, there] = [] as unknown as [TestActor, TestActor]
  let reads: number
  beforeEach(async () => {
    store = await fresh()
    const channels = { whatsapp: { mode: 'link_code', business_number: '+15550001111' } }
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
})
