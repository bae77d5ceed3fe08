// A verification that is erased or canceled while its message is on its way to a provider, at every moment between the channel's read and
// the end of the call. What a provider gets is paid for; what is given back no provider gets.
import { expect } from 'chai'
import { createErasures } from '../../../services/dashboard/privacy/erase-recipient.ts'
import type { CountersignStore } from '../../../services/domain/collections.ts'
import type { Entry } from '../../../services/domain/money/documents.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { acceptMessage, actorWithProvider, replaceOtp } from '../../support/channel-actor.ts'
import { cancel, PRICES, play } from '../../support/otp.ts'
import { insertOtp, lastDelivery } from '../../support/queued-otps.ts'
import { eachStore } from '../../support/stores.ts'
import { interceptWrites, testKeyring } from '../../support/tenancy.ts'

const MOMENTS = ['before its attempt is stored', 'after its attempt is stored', 'during the call'] as const
type Moment = (typeof MOMENTS)[number]
const EVER = Number.MAX_SAFE_INTEGER

eachStore('a message whose verification ends on its way to a provider', fresh => {
  let store: CountersignStore
  beforeEach(async () => {
    store = await fresh()
  })

  /** An actor that is interrupted once, by `interrupt`, with the verification whose message it sends. */
  async function interruptedActor(moment: Moment, interrupt: (doc: OtpDoc) => Promise<unknown>) {
    let interrupted: OtpDoc | null = null
    const interruptAt = async (here: Moment): Promise<void> => {
      if (here !== moment || !interrupted) return
      const doc = interrupted
      interrupted = null
      await interrupt(doc)
    }
    const watched = interceptWrites(store, {
      before: async write => void (write === 'attempts.insert' && (await interruptAt('before its attempt is stored'))),
      after: async write => void (write === 'attempts.insert' && (await interruptAt('after its attempt is stored'))),
    })
    const actor = await actorWithProvider(watched, async (message, signal) => {
      await interruptAt('during the call')
      return acceptMessage(message, signal)
    })
    const doc = await insertOtp(actor, { mode: 'live' })
    expect(lastDelivery(doc).micros).to.equal(PRICES.sms)
    return {
      ...actor,
      doc,
      deliverInterrupted: () => {
        interrupted = doc
        return actor.deliver(doc)
      },
    }
  }

  const attempts = (doc: OtpDoc) =>
    store.docs('attempts').count({ _id: { $gte: `${lastDelivery(doc).delivery_id}:` } }, 10)

  for (const moment of MOMENTS)
    it(`is not sent, or is paid, when it is erased ${moment}`, async () => {
      const entries: Entry[] = []
      const accounts = { enter: async (_: string, entry: Entry) => void entries.push(entry) as never }
      const actor = await interruptedActor(moment, ({ app_id, recipient }) =>
        createErasures({ store, keyring: testKeyring(), clock: actor.clock, accounts }).eraseIndexed({
          app_id,
          indexes: [recipient],
          until: EVER,
        }),
      )
      expect(await actor.deliverInterrupted()).to.deep.equal({ kind: 'done' })
      const isCalled = moment === 'during the call'
      const isGivenBack = moment === 'before its attempt is stored'
      expect(actor.sent).to.have.length(isCalled ? 1 : 0)
      expect(entries.map(({ entry, micros }) => [entry, micros])).to.deep.equal([
        [`back:${lastDelivery(actor.doc).delivery_id}`, isGivenBack ? PRICES.sms : 0],
      ])
      expect(await attempts(actor.doc), 'what is left of it').to.equal(0)
    })

  for (const moment of MOMENTS)
    it(`is not sent, or is paid, when it is canceled ${moment}, and another process has the same message`, async () => {
      const actor = await interruptedActor(moment, async doc => {
        await replaceOtp(store, { ...doc, ...play(doc, cancel()).saved })
        const other = await actorWithProvider(store, acceptMessage, {}, { sharedClock: actor.clock })
        await other.deliverAgain(doc)
        await other.applyReports()
        expect(other.sent).to.deep.equal([])
      })
      expect(await actor.deliverInterrupted()).to.deep.equal({ kind: 'done' })
      await actor.applyReports()
      const isCalled = moment === 'during the call'
      expect(actor.sent).to.have.length(isCalled ? 1 : 0)
      const stored = (await store.docs('otps').get([actor.doc._id])).get(actor.doc._id)
      expect(stored && lastDelivery(stored)).to.include({ status: isCalled ? 'sent' : 'failed' })
      expect(await attempts(actor.doc)).to.equal(isCalled ? 1 : 0)
    })
})
