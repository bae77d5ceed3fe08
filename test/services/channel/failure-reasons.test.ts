// Why a delivery failed, and what the vendor said: the report to the OTP actor, the stored attempt, the timeline and the log.
import { expect } from 'chai'
import fc from 'fast-check'
import {
  type Provider,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
  type VendorAnswer,
} from '../../../services/channel/provider.ts'
import { createTimeline } from '../../../services/dashboard/verifications/timeline.ts'
import type { AttemptDoc, OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { acceptMessage, actorWithProvider, BACKOFF, replaceOtp, TIMEOUT_MS } from '../../support/channel-actor.ts'
import { cancel, play, resend } from '../../support/otp.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { codeOf, insertOtp, lastDelivery, RECIPIENT } from '../../support/queued-otps.ts'
import { spellingsOfCode, spellingsOfNumber } from '../../support/spellings.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const live = { mode: 'live' } as const
const LONG_AGO = BACKOFF.length + 1

type Send = Provider['send']
const throwing =
  (fault: () => Error): Send =>
  () =>
    Promise.reject(fault())
const answer: VendorAnswer = { httpStatus: 400, vendorCode: '21211', vendorText: `${RECIPIENT} is not a number` }

onEmbeddedStore('why a delivery failed', fresh => {
  type Actor = Awaited<ReturnType<typeof actorWithProvider>>
  const withProvider = async (send: Send = acceptMessage, more: Partial<Provider> = {}) =>
    actorWithProvider(await fresh(), send, more)

  /** Delivers as often as the broker would. */
  async function deliverUntilDone(actor: Actor, doc: OtpDoc): Promise<void> {
    for (let attempt = 1; attempt < 10 * LONG_AGO; attempt += 1) {
      const outcome = await actor.deliver(doc, attempt)
      await actor.applyReports()
      if (outcome.kind !== 'retry') return
      await actor.clock.advance(outcome.afterMs)
    }
    throw new Error('the delivery does not end')
  }
  const failedReport = (actor: Actor) => actor.reports.find(({ body }) => body.status === 'failed')?.body
  const ownedBy = async ({ store }: Pick<Actor, 'store'>): Promise<AttemptDoc[]> => {
    const all = await store.docs('attempts').find({ _id: { $gt: '' } }, { sort: { _id: 1 }, limit: 100 })
    return all.filter(({ provider }) => provider === 'gateway')
  }

  it('is that of the fault with which the last call ended', async () => {
    for (const [reason, fault] of [
      ['recipient_unreachable', new RecipientFault('it answered 400, 21211', { answer })],
      ['provider_failed', new ProviderFault('it answered 500')],
      ['no_answer', new UnknownOutcome('cut off')],
    ] as const) {
      const actor = await withProvider(throwing(() => fault))
      await deliverUntilDone(actor, await insertOtp(actor, live))
      expect(failedReport(actor), fault.name).to.include({ reason })
    }
  })

  it('is superseded where the verification has ended, or a newer code was sent', async () => {
    const actor = await withProvider()
    for (const move of [cancel(), resend('telegram')]) {
      const doc = await insertOtp(actor, live)
      await replaceOtp(actor.store, { ...doc, ...play(doc, move).saved })
      actor.reports.length = 0
      await actor.deliver(doc)
      expect(failedReport(actor)).to.include({ reason: 'superseded' })
    }
    expect(actor.sent).to.deep.equal([])
  })

  const setClosed = ({ store }: Actor, closed_at: number | null) =>
    store.docs('companies').modify({ _id: 'cmp_acme' }, { $set: { closed_at } })

  it('is no_provider where the company was closed, and no provider is called until it is open again', async () => {
    const actor = await withProvider()
    await setClosed(actor, 1)
    const [paid, test] = [await insertOtp(actor, live), await insertOtp(actor)]
    for (const doc of [paid, test]) {
      await actor.deliverAndWait(doc)
      expect(actor.reports.pop()?.body).to.include({ otp_id: doc._id, status: 'failed', reason: 'no_provider' })
    }
    expect(actor.sent).to.deep.equal([])
    expect(await actor.store.docs('sandbox_messages').count({ company_id: 'cmp_acme' })).to.equal(0)
    await setClosed(actor, null)
    await actor.clock.advance(5_000)
    await actor.deliver(await insertOtp(actor, live))
    expect(actor.sent).to.have.length(1)
  })

  describe('and what the vendor said', () => {
    it('is stored with the result of the call, without the recipient', async () => {
      const actor = await withProvider(async () => {
        await actor.clock.advance(120)
        throw new RecipientFault('it answered 400, 21211', { answer })
      })
      await actor.deliver(await insertOtp(actor, live))
      const [attempt] = await ownedBy(actor)
      expect(attempt).to.include({
        result: 'refused',
        ms: 120,
        http_status: 400,
        vendor_code: '21211',
        vendor_text: '[phone] is not a number',
      })
      const [line] = actor.log.lines().filter(({ msg }) => msg === 'delivery.attempted')
      expect(line).to.include({ outcome: 'refused', ms: 120, http_status: 400, vendor_code: '21211' })
      expect(line).to.not.have.property('vendor_text')
    })

    it('is, where no vendor answered, what kept us from an answer', async () => {
      const unreachable = await withProvider(throwing(() => new ProviderFault('it cannot be reached')))
      await unreachable.deliver(await insertOtp(unreachable, live))
      expect((await ownedBy(unreachable))[0]).to.include({ vendor_text: 'it cannot be reached' })
      const hanging = await actorWithProvider(await fresh(), () => new Promise(() => {}), { parseCallback: () => [] })
      const delivering = hanging.deliver(await insertOtp(hanging, live))
      while (hanging.sent.length === 0) await hanging.clock.advance(0)
      await hanging.clock.advance(TIMEOUT_MS)
      await delivering
      const [attempt] = await ownedBy(hanging)
      expect(attempt).to.include({ result: 'unknown', ms: TIMEOUT_MS, vendor_text: 'it did not answer in time' })
      expect(attempt).to.not.have.property('http_status')
    })

    it('never holds the recipient or the code in the store, the timeline or the log', async () => {
      let said = ''
      const actor = await withProvider(
        throwing(() => new RecipientFault('it answered 400', { answer: { ...answer, vendorText: said } })),
      )
      const words = fc.string({ maxLength: 30 })
      await fc.assert(
        fc.asyncProperty(words, words, fc.nat(), async (before, after, nth) => {
          const doc = await insertOtp(actor, live)
          const code = codeOf(actor, doc)
          const spellings = [...spellingsOfNumber(RECIPIENT), ...spellingsOfCode(code)]
          said = `${before} ${spellings[nth % spellings.length]} ${after}`
          await actor.deliver(doc)
          const { delivery_id } = lastDelivery(doc)
          const attempts = (await ownedBy(actor)).filter(one => one.delivery_id === delivery_id)
          const timeline: Record<string, unknown>[] = createTimeline({
            otp: doc.context,
            status: 'pending',
            attempts,
            events: [],
          })
          const texts = [...attempts, ...timeline].map(
            ({ vendor_text, vendor_code }) => `${vendor_text} ${vendor_code}`,
          )
          expect(attempts).to.have.length(1)
          for (const text of texts) {
            const digits = text.replace(/\D/g, '')
            expect(digits, said).to.not.include(code)
            expect(digits, said).to.not.include(RECIPIENT.slice(-7))
          }
          const lines = JSON.stringify(actor.log.lines().filter(line => line.delivery_id === delivery_id))
          for (const secret of [`"${code}"`, ` ${code}`, RECIPIENT.slice(1), RECIPIENT.slice(-10)])
            expect(lines, said).to.not.include(secret)
          await actor.store.docs('attempts').remove({ _id: { $gt: '' } }, 100)
        }),
        { numRuns: propertyRuns(20) },
      )
    })
  })
})
