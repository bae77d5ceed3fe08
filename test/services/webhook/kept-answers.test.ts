// What is stored of an endpoint's answer. An endpoint may echo what it was sent, or what it knows of the person.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import { answerText, eraseAnswersForOtps } from '../../../services/domain/privacy/event-answers.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { atRest } from '../../../services/domain/verifications/encryption-context.ts'
import type { NotifyBody } from '../../../services/domain/webhooks/queue-messages.ts'
import { onEmbeddedStore } from '../../support/stores.ts'
import { testKeyring } from '../../support/tenancy.ts'
import { createWebhookHarness, secretOf, type WebhookHarness } from '../../support/webhooks.ts'

const keyring = testKeyring()
const OTP = 'otp_1'

onEmbeddedStore("an endpoint's answer", fresh => {
  let harness: WebhookHarness
  beforeEach(async () => {
    harness = await createWebhookHarness(await fresh())
  })
  afterEach(() => harness.stop())

  const addOtp = (recipient: string, code?: string) => {
    const context = {
      recipient: { sealed: keyring.seal(recipient, atRest.recipient(OTP)) },
      code: code === undefined ? { salt: '' } : { given: keyring.seal(code, atRest.givenCode(OTP)) },
    }
    return harness.store.docs('otps').insert([{ _id: OTP, rev: 1, outbox: [], context } as unknown as OtpDoc])
  }

  /** What the admin API would show of the answer, and the stored document as text. */
  async function keptOf(body: string, fact: Partial<NotifyBody> = {}): Promise<[shown: string | null, stored: string]> {
    harness.respondWith('app_shop', async () => ({ status: 200, headers: {}, body: Buffer.from(body) }))
    const id = await harness.emitEvent('app_shop', fact)
    return harness.soon(async () => {
      const event = await harness.event(id)
      const [attempt] = event.attempts
      if (!attempt) throw new Error('not yet')
      return [answerText(keyring, event._id, attempt.sealed_response), JSON.stringify(event)]
    })
  }

  it('is kept sealed, without the number, the code, addresses and secrets', async () => {
    await addOtp('+442079460156', 'k7Qx9b')
    const secret = secretOf('app_shop')
    const body = `thanks: 020 7946 0156, k7qX9B, ada@example.com, 123456, whsec_${secret}, bye`
    const [shown, stored] = await keptOf(body)
    expect(shown).to.equal(null)
    const [again] = await keptOf(body.replace('k7qX9B', 'it'))
    expect(again).to.equal('thanks: [number], it, [email], [number], [hidden], bye')
    expect(stored).to.not.match(/thanks|7946|0156|ada@|123456/)
  })

  it('is kept without the name in an address', async () => {
    await addOtp('augusta.ada.king+1@example.com')
    expect((await keptOf('hello augusta.ada.king, welcome'))[0]).to.equal('hello [email], welcome')
  })

  it('is kept to its last whole word', async () => {
    await addOtp('+442079460156')
    expect((await keptOf(`${'word '.repeat(408)}20794601562`))[0]).to.equal('word '.repeat(408).trim())
  })

  it('is not kept where the verification is gone, and kept where there is none to an event', async () => {
    expect((await keptOf('hello Augusta'))[0]).to.equal(null)
    expect((await keptOf('hello, operator', { payload: {} }))[0]).to.equal('hello, operator')
  })

  it('is not kept when the person is erased while the endpoint is called', async () => {
    await addOtp('+442079460156')
    harness.beforeStoreCall('events.change', () => eraseAnswersForOtps(harness.store, 'app_shop', [OTP]))
    const [shown, stored] = await keptOf('hello Augusta')
    expect([shown, JSON.parse(stored).status]).to.deep.equal([null, 'delivered'])
    expect(JSON.parse(stored).discard_answers).to.equal(true)
  })
})
