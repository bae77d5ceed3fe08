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

describe('decisions of the fraud guard', () => {
  const opened = () => {
    const clock = testClock()
    const kept: DecisionDoc[] = []
    const insert = async (docs: readonly DecisionDoc[]) => {
      kept.push(...docs)
      return docs.map(() => 'inserted' as const)
    }
    return { clock, kept, ...createDecisionLog({ decisions: { insert }, clock, log: createCapturedLog().log }) }
  }

  it('are kept once each, however often the same call is decided', async () => {
    const { record, kept, settled } = opened()
    record('otp_1:call_1', decision('app'))
    record('otp_1:call_1', decision('app'))
    record('otp_1:call_2', decision('app'))
    await settled()
    expect(kept).to.have.length(2)
    expect(kept[0]?._id).to.match(/^frd_/)
  })

  it('are so many a minute of one app, and then how many more there were', async () => {
    const { clock, record, kept, settled } = opened()
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
