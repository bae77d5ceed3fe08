// kill -9 between any two steps of a send that counts against a spend cap: a send that was not completed does not count, once the sweeper
// has voided its hold.
import { expect } from 'chai'
import { DAY_MS } from '../../../infra/time.ts'
import { createBurstSite, OPENING_BALANCE, PRICE } from '../../support/burst-site.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { useProcesses } from '../../support/processes.ts'
import { onEachEngineSet } from '../../support/site.ts'

const STEPS: [step: string, method: string, nth: number, when: CrashPoint['when']][] = [
  // The first write finds nothing spent yet and does not match; the second, after reading the company, does.
  ['after the money was held', 'companies.modify', 2, 'after'],
  ['before the verification was stored', 'otps.insert', 1, 'before'],
  ['after the verification was stored', 'otps.insert', 1, 'after'],
  ['before the hold was in the ledger', 'ledger.insert', 1, 'before'],
]
/** A hold without a verification is checked after a minute of this clock. */
const SPEED = 5

/** The start of the fast clock that makes it noon there now, so that the day does not change during the test. */
function sinceNoon(now = Date.now()): number {
  const untilNoon = (DAY_MS / 2 - (now % DAY_MS) + DAY_MS) % DAY_MS
  return now - untilNoon / (SPEED - 1)
}

onEachEngineSet('a spend cap and kill -9', engines => {
  const { site, crashing } = useProcesses()

  for (const [step, method, nth, when] of stepsOn(engines, STEPS))
    it(`counts only completed sends when the process dies ${step}`, async () => {
      const settings = { spend_caps: { US: 2 * PRICE } }
      const burstSite = await createBurstSite({ site, crashing }, engines, { settings, since: sinceNoon() })
      const dying = await burstSite.start({ port: 'store', method, nth, when })
      expect(await burstSite.send(dying.url, '+14155571001'), 'no answer').to.equal(null)
      expect((await dying.exited).signal).to.equal('SIGKILL')

      const { url } = await burstSite.start()
      const sent = (number: string) =>
        eventually(async () => {
          const answer = await burstSite.send(url, number)
          expect(answer?.status, answer?.text).to.equal(200)
        })
      await sent('+14155571001')
      await sent('+14155571002')
      await burstSite.expectBalance(url, OPENING_BALANCE - 2 * PRICE)
      const past = await burstSite.send(url, '+14155571003')
      expect([past?.status, past?.body.scope]).to.deep.equal([429, 'spend_cap'])
    })
})
