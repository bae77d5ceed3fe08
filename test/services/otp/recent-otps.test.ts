// Two OTP actors share a store. One has a verification in memory that the other may have changed.
import { expect } from 'chai'
import type { Identity, OtpAnswer } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import { inFlight } from '../../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../../services/domain/verifications/message-content.ts'
import type { OtpReport } from '../../../services/domain/verifications/queue-messages.ts'
import { startOtpActor, type TestActor } from '../../support/otp.actor.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'

onEmbeddedStore('a verification that one actor has in memory', fresh => {
  const keyring = testKeyring()
  const by: Identity = { company_id: 'cmp_1', app_id: 'app_1', mode: 'test', key_id: 'key_server', kind: 'server' }
  let store: CountersignStore
  let [here, there]: TestActor[] = []
  let reads: number
  beforeEach(async () => {
    store = await fresh()
    const settings = {
      resend_cooldown_seconds: [0],
      channels: { whatsapp: { mode: 'link_code' as const, business_number: '+15550001111' } },
    }
    await store
      .docs('apps')
      .insert([{ _id: 'app_1', company_id: 'cmp_1', name: 'Shop', settings, created_at: 0, rev: 0 }])
    reads = 0
    const counting: CountersignStore = {
      ...store,
      docs(name) {
        const docs = store.docs(name)
        const get: typeof docs.get = (ids, options) => {
          if (name === 'otps') reads += 1
          return docs.get(ids, options)
        }
        return { ...docs, get }
      },
    }
    here = await startOtpActor(counting, keyring)
    there = await startOtpActor(store, keyring)
  })
  afterEach(() => Promise.all([here?.close(), there?.close()]))

  const stored = async (otp_id: string) => {
    const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
    if (!doc) throw new Error('it is gone')
    return doc
  }
  const send = async (): Promise<string> =>
    (await (here as TestActor).send({ company: 'cmp_1', app: 'app_1', recipient: '+14155550123' })).otp_id
  const report = (actor: TestActor | undefined, otp_id: string, delivery_id: string, status: 'sent' | 'delivered') => {
    const body: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, at: actor?.clock.now() ?? 0 }
    return actor?.broker.publish('otp.reports', { id: `${delivery_id}:${status}`, body })
  }
  const resend = (actor: TestActor | undefined, otp_id: string, channel: Channel) =>
    actor?.ask({ type: 'otp.resend', by, otp_id, channel })
  const verify = async (actor: TestActor | undefined, otp_id: string) =>
    actor?.ask({
      type: 'otp.verify',
      by,
      otp_id,
      sealed_code: keyring.seal(codeOf(keyring, (await stored(otp_id)).context), inFlight.code),
    })
  const kindOf = (answer: OtpAnswer | undefined) => (answer?.kind === 'refused' ? answer.error : answer?.kind)

  it('is not read again for changes by the same actor', async () => {
    const otp_id = await send()
    const [first] = (await stored(otp_id)).context.deliveries
    await report(here, otp_id, first?.delivery_id ?? '', 'sent')
    await report(here, otp_id, first?.delivery_id ?? '', 'delivered')
    expect((await stored(otp_id)).context.deliveries.map(({ status }) => status)).to.deep.equal(['delivered'])
    expect(reads).to.equal(0)
    await report(here, otp_id, first?.delivery_id ?? '', 'sent')
    expect(reads, 'but before a report is dropped').to.equal(1)
  })

  it('takes a report on a delivery that the other actor has added', async () => {
    const otp_id = await send()
    await resend(there, otp_id, 'telegram')
    const latest = (await stored(otp_id)).context.deliveries.at(-1)
    await report(here, otp_id, latest?.delivery_id ?? '', 'delivered')
    expect((await stored(otp_id)).context.deliveries.at(-1)?.status).to.equal('delivered')
  })

  it('is not approved here after the other actor has canceled it', async () => {
    const otp_id = await send()
    await there?.ask({ type: 'otp.cancel', by, otp_id })
    expect(kindOf(await verify(here, otp_id))).to.equal('OtpNotPendingError')
    expect((await stored(otp_id)).value).to.equal('canceled')
  })

  it('is read again before a command is refused', async () => {
    const otp_id = await send()
    // This actor remembers a link and no code; the other actor has sent a code by sms since.
    await resend(here, otp_id, 'whatsapp')
    await resend(there, otp_id, 'sms')
    expect(await verify(here, otp_id)).to.include({ kind: 'verified', status: 'approved' })
  })

  it('loses its reference when it moves away from a link that the same actor has made', async () => {
    const otp_id = await send()
    await resend(here, otp_id, 'whatsapp')
    expect(await stored(otp_id)).to.have.property('reference')
    await resend(here, otp_id, 'sms')
    expect(await stored(otp_id)).not.to.have.property('reference')
  })
})
