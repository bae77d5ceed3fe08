// kill -9 between any two steps of a send that takes room below a cap: what came to nothing has taken none, once it is seen to.
import { expect } from 'chai'
import { createBurstSite, OPENING_BALANCE, PRICE } from '../support/burst-site.ts'
import type { CrashPoint } from '../support/crash.ts'
import { eventually } from '../support/eventually.ts'
import { useProcesses } from '../support/processes.ts'
import { onEachEngineSet } from '../support/site.ts'

const STEPS: [step: string, method: string, nth: number, when: CrashPoint['when']][] = [
  // The first finds nothing spent yet, and looks before the second.
  ['after the money was held', 'companies.modify', 2, 'after'],
  ['before the hold was in the ledger', 'ledger.insert', 1, 'before'],
  ['before the verification was there', 'otps.insert', 1, 'before'],
  ['after the verification was there', 'otps.insert', 1, 'after'],
]
/** A hold without a verification is looked at after a minute, of a clock that runs five times as fast. */
const TIMEOUT_MS = 60_000
const [DAY, SPEED] = [86_400_000, 5]

/** So that it is noon there, and stays the same day. */
function sinceNoon(now = Date.now()): number {
  const untilNoon = (DAY / 2 - (now % DAY) + DAY) % DAY
  return now - untilNoon / (SPEED - 1)
}

onEachEngineSet('room below a cap and kill -9', engines => {
  const { site, script } = useProcesses()

  for (const [step, method, nth, when] of STEPS)
    it(`is not lost ${step}`, async function () {
      this.timeout(180_000)
      const settings = { spend_caps: { US: 2 * PRICE } }
      const burstSite = await createBurstSite({ site, script }, engines, { settings, since: sinceNoon() })
      const dying = await burstSite.start({ port: 'store', method, nth, when })
      expect(await burstSite.send(dying.url, '+14155571001'), 'no answer').to.equal(null)
      expect((await dying.exited).signal).to.equal('SIGKILL')

      const { url } = await burstSite.start()
      const sent = (number: string) =>
        eventually(async () => {
          const answer = await burstSite.send(url, number)
          expect(answer?.status, answer?.text).to.equal(200)
        }, TIMEOUT_MS)
      await sent('+14155571001')
      await sent('+14155571002')
      await burstSite.expectBalance(url, OPENING_BALANCE - 2 * PRICE)
      const past = await burstSite.send(url, '+14155571003')
      expect([past?.status, past?.body.scope]).to.deep.equal([429, 'spend_cap'])
    })
})
