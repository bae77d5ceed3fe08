import { expect } from 'chai'
import type { DecisionDoc } from '../../../../services/domain/fraud/documents.ts'
import {
  createDecisionLog,
  MAX_DECISIONS_PER_MINUTE,
  type NewDecision,
} from '../../../../services/otp/fraud/decisions.ts'
import { createCapturedLog } from '../../../support/captured-log.ts'
import { testClock } from '../../../support/clock.ts'

const decision = (app_id: string): NewDecision => ({
  app_id,
  company_id: 'cmp',
  mode: 'live',
  enforced: true,
  outcome: 'refused',
  channel: null,
  verdict: 'refuse',
  score: 100,
  reasons: [],
  otp_id: 'otp',
  recipient: 'index',
  masked: '+44****00',
  country: 'GB',
  purge_at: new Date(0),
})

describe("the log of the fraud guard's decisions", () => {
  const createTestLog = () => {
    const clock = testClock()
    const kept: DecisionDoc[] = []
    const insert = async (docs: readonly DecisionDoc[]) => {
      kept.push(...docs)
      return docs.map(() => 'inserted' as const)
    }
    return { clock, kept, ...createDecisionLog({ decisions: { insert }, clock, log: createCapturedLog().log }) }
  }

  it('records a call once, even if it is decided twice', async () => {
    const { record, kept, settled } = createTestLog()
    record('otp_1:call_1', decision('app'))
    record('otp_1:call_1', decision('app'))
    record('otp_1:call_2', decision('app'))
    await settled()
    expect(kept).to.have.length(2)
    expect(kept[0]?._id).to.match(/^frd_/)
  })

  it('records a number of decisions per minute and app, and then says how many were left out', async () => {
    const { clock, record, kept, settled } = createTestLog()
    for (let nth = 0; nth < MAX_DECISIONS_PER_MINUTE + 7; nth += 1) record(`call_${nth}`, decision('app'))
    record('another', decision('another'))
    await settled()
    expect(kept).to.have.length(MAX_DECISIONS_PER_MINUTE + 1)
    await clock.advance(60_000)
    record('later', decision('app'))
    record('latest', decision('app'))
    expect(kept.slice(-2).map(({ unrecorded }) => unrecorded)).to.deep.equal([7, 0])
  })
})
