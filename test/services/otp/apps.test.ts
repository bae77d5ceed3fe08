import { expect } from 'chai'
import { resolveSettings, type SettingsInput } from '../../../services/domain/tenancy/settings.ts'
import { createAppCache } from '../../../services/otp/apps.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'

describe('an app whose stored settings allow too many guesses', () => {
  /** The lines of the log after the app was loaded twice. */
  const warningsOf = async (settings: SettingsInput) => {
    const { log, lines } = createCapturedLog()
    const clock = testClock()
    const identity = { id: 'app_1', company_id: 'cmp_1', name: 'Shop', sealed_challenge_secret: null }
    const app = { ...identity, settings: resolveSettings(settings) }
    const tenancy = {
      app: async () => app,
      isCompanyClosed: async () => false,
      providersOf: async () => ({ providers: [], unreadable: [] }),
    }
    const apps = createAppCache({ tenancy, clock, log })
    for (let nth = 0; nth < 2; nth += 1) {
      await apps.get('app_1')
      await clock.advance(60_000)
    }
    return lines().filter(({ msg }) => msg === 'app.guess_budget_exceeded')
  }
  const wrongCodes = (max: number): SettingsInput => ({
    code: { length: 4 },
    limits: { recipient_verify: [{ max, seconds: 86_400 }] },
  })

  it('is in the log once, with both numbers', async () => {
    const [warning, ...more] = await warningsOf(wrongCodes(8))
    expect(warning).to.include({ app_id: 'app_1', guesses_per_day: 16, allowed: 10 })
    expect(more).to.deep.equal([])
    expect(await warningsOf(wrongCodes(5)), 'within the budget').to.deep.equal([])
  })
})
