// What the OTP actor adds change by change is what the sweeper counts at the end, for any history of a verification.
import { expect } from 'chai'
import fc from 'fast-check'
import { newId } from '../../../../infra/ids.ts'
import type { SavedOtp } from '../../../../machines/otp.versions.ts'
import {
  addChange,
  addContribution,
  changesContribution,
  DIMENSIONS,
  isZero,
  newTally,
} from '../../../../services/domain/stats/contribution.ts'
import { decodeCells, encodeCells } from '../../../../services/domain/stats/counts.ts'
import { storedTally } from '../../../../services/domain/stats/hours-and-days.ts'
import { histories, runHistory } from '../../../support/otp.arbitraries.ts'
import { issued, play, reported, right, T0 } from '../../../support/otp.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { documentOf } from '../../../support/queued-otps.ts'

const _id = newId('otp', T0)
const docOf = (saved: SavedOtp) => ({ ...documentOf(saved, T0), _id })
const HOUR = 3_600_000

describe('what a verification contributes to statistics', () => {
  const contribution = (saved: SavedOtp) => {
    const tally = newTally()
    addContribution(tally, docOf(saved))
    return storedTally(tally)
  }

  it('is the sum of what its changes contribute, for any history', () => {
    fc.assert(
      fc.property(histories, history => {
        const { started, steps } = runHistory(history)
        const tally = newTally()
        addContribution(tally, docOf(started.saved))
        for (const { before, after } of steps) {
          if (!after.changed || !changesContribution(before, after.saved)) continue
          addChange(tally, before, docOf(after.saved))
        }
        const last = steps.at(-1)?.after.saved ?? started.saved
        const sorted = (by: ReturnType<typeof storedTally>) => DIMENSIONS.map(name => by[name].split(';').sort())
        expect(sorted(storedTally(tally))).to.deep.equal(sorted(contribution(last)))
        for (const name of DIMENSIONS) expect(encodeCells(decodeCells(contribution(last)[name]))).to.not.be.empty
      }),
      { numRuns: propertyRuns(100) },
    )
  })

  it('is counted by its first channel, and its messages by their own', () => {
    const { saved } = play(issued({ order: ['sms'] }), reported('delivered', { at: T0 + 2_000 }), right())
    expect(contribution(saved).channel).to.equal('sms=1 1 1 1 0 0 0 0 0 2:1')
    expect(contribution(saved).country).to.equal('GB=1 1 1 1 0 0 0 0 0 2:1')
    expect(contribution(saved).provider).to.equal('?=1 1 1 1 0 0 0 0 0 2:1')
  })

  it('has no delivery whose receipt comes more than four hours after the start: then the hour is final', () => {
    const before = play(issued(), reported('sent')).saved
    const inTime = play(before, reported('delivered', { at: T0 + 4 * HOUR - 1 })).saved
    const late = play(before, reported('delivered', { at: T0 + 4 * HOUR })).saved
    expect(contribution(inTime).channel).to.equal('sms=1 1 1 0 0 0 0 0 0')
    expect(contribution(late).channel).to.equal('sms=1 1 0 0 0 0 0 0 0')
    const tally = newTally()
    addChange(tally, before, docOf(late))
    expect(isZero(tally)).to.equal(true)
  })

  it('has a message as queued until a provider took it or it failed, and as sent once one took it, also when it failed afterwards', () => {
    expect(contribution(issued()).channel).to.equal('sms=1 0 0 0 0 0 1 0 0')
    expect(contribution(play(issued(), reported('sent')).saved).channel).to.equal('sms=1 1 0 0 0 0 0 0 0')
    const failed = play(issued(), reported('failed')).saved
    const [delivery] = failed.context.deliveries
    const taken = { ...failed, context: { ...failed.context, deliveries: [{ ...delivery, provider: 'main' }] } }
    expect(contribution(failed).provider).to.equal('?=1 0 0 0 0 0 0 1 0')
    expect(contribution(taken as SavedOtp).provider).to.equal('main=1 1 0 0 0 0 0 0 1')
  })
})
