// What the OTP actor records of the sends and resends that it refuses.
import { expect } from 'chai'
import { newId } from '../../../../infra/ids.ts'
import { DAY_MS } from '../../../../infra/time.ts'
import type { CountersignStore } from '../../../../services/domain/collections.ts'
import type { RefusalDoc } from '../../../../services/domain/refusals/documents.ts'
import { inFlight } from '../../../../services/domain/verifications/encryption-context.ts'
import { recipientIndexes } from '../../../../services/domain/verifications/lookup-indexes.ts'
import { eventually } from '../../../support/eventually.ts'
import { startOtpActor, type TestActor } from '../../../support/otp.actor.ts'
import { rawDocuments } from '../../../support/raw-documents.ts'
import { addApp, SERVER as by, sendCall } from '../../../support/sent-otp.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'
import { testKeyring } from '../../../support/tenancy.ts'

const NUMBER = '+447400998877'

onEmbeddedStore('a refusal by the OTP actor', fresh => {
  const keyring = testKeyring(2, 1)
  let store: CountersignStore
  let actor: TestActor
  beforeEach(async () => {
    store = await fresh()
    await addApp(store, { limits: { recipient: [{ max: 1, seconds: 600 }] } })
    actor = await startOtpActor(store, keyring)
  })
  afterEach(() => actor.close())

  const send = (recipient: string) => actor.ask(sendCall(keyring, recipient, { at: actor.clock.now() }))
  const recorded = (count: number): Promise<RefusalDoc[]> =>
    eventually(async () => {
      const found = await store.docs('refusals').find({ app_id: 'app_1' }, { sort: { _id: 1 }, limit: 99 })
      expect(found).to.have.length(count)
      return found
    })

  it('says which recipient and country it concerns, and which limit was hit, without the recipient in the clear', async () => {
    expect((await send(NUMBER)).kind).to.equal('verification')
    expect(await send(NUMBER)).to.include({ error: 'RateLimitExceededError' })
    const [doc] = await recorded(1)
    const [recipient] = recipientIndexes(keyring, by, NUMBER)
    expect(doc).to.deep.include({
      company_id: 'cmp_1',
      app_id: 'app_1',
      mode: 'test',
      key_id: 'key_server',
      request_id: null,
      type: 'RateLimitExceededError',
      scope: 'recipient',
      country: 'GB',
      masked: '+44****77',
      recipient,
      purge_at: new Date(actor.clock.now() + 3 * DAY_MS),
    })
    for (const text of await rawDocuments(store, 'refusals')) expect(text).not.to.contain(NUMBER.slice(3))
  })

  it('of a text that is no recipient shows nothing of it, and has an index of it', async () => {
    expect(await send('+44 7400 99')).to.include({ error: 'InvalidRecipientError' })
    const [doc] = await recorded(1)
    expect(doc).to.deep.include({ type: 'InvalidRecipientError', country: null, masked: null })
    const [recipient] = recipientIndexes(keyring, by, '+44740099')
    expect(doc?.recipient).to.equal(recipient)
  })

  it('of a resend concerns the recipient of its verification', async () => {
    const sent = await send(NUMBER)
    const otp_id = sent.kind === 'verification' ? sent.verification.otp_id : ''
    await actor.ask({ type: 'otp.resend', by, otp_id, channel: null })
    await actor.ask({ type: 'otp.resend', by, otp_id: newId('otp', 0), channel: null })
    const byType = new Map((await recorded(2)).map(doc => [doc.type, doc]))
    expect(byType.get('ResendCooldownError')).to.include({
      scope: 'resend_cooldown',
      country: 'GB',
      masked: '+44****77',
    })
    expect(byType.get('OtpNotFoundError')).to.deep.include({ country: null, masked: null })
    expect(byType.get('OtpNotFoundError')).not.to.have.property('recipient')
  })

  it('of a verify, a cancel or an exchange is not recorded, nor is what was accepted', async () => {
    const sent = await send(NUMBER)
    const otp_id = newId('otp', 0)
    expect(sent.kind).to.equal('verification')
    await actor.ask({ type: 'otp.cancel', by, otp_id })
    await actor.ask({ type: 'otp.verify', by, otp_id, sealed_code: keyring.seal('123456', inFlight.code) })
    // One that is recorded, so that the test does not only look too early.
    await send('rubbish')
    expect((await recorded(1))[0]?.type).to.equal('InvalidRecipientError')
  })
})
