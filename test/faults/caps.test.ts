// kill -9 between any two steps of a send that takes room below a cap: what came to nothing has taken none, once it is seen to.
import { expect } from 'chai'
import { burst, OPENING, PRICE } from '../support/burst.ts'
import type { CrashPoint } from '../support/crash.ts'
import { eventually } from '../support/eventually.ts'
import { processes } from '../support/processes.ts'
import { onEachEngineSet } from '../support/site.ts'

const STEPS: [step: string, method: string, nth: number, when: CrashPoint['when']][] = [
  // The first finds nothing spent yet, and looks before the second.
  ['after the money was held', 'companies.modify', 2, 'after'],
  ['before the hold was in the ledger', 'ledger.insert', 1, 'before'],
  ['before the verification was there', 'otps.insert', 1, 'before'],
  ['after the verification was there', 'otps.insert', 1, 'after'],
]
/** A hold without a verification is looked at after a minute, of a clock that runs five times as fast. */
const ENOUGH_MS = 60_000
const [DAY, SPEED] = [86_400_000, 5]

/** So that it is noon there, and stays the same day. */
function sinceNoon(now = Date.now()): number {
  const untilNoon = (DAY / 2 - (now % DAY) + DAY) % DAY
  return now - untilNoon / (SPEED - 1)
}

onEachEngineSet('room below a cap and kill -9', engines => {
  const { site, script } = processes()

  for (const [step, method, nth, when] of STEPS)
    it(`is not lost ${step}`, async function () {
      this.timeout(180_000)
      const settings = { spend_caps: { US: 2 * PRICE } }
      const world = await burst({ site, script }, engines, { settings, since: sinceNoon() })
      const dying = await world.start({ port: 'store', method, nth, when })
      expect(await world.send(dying.url, '+14155571001'), 'no answer').to.equal(null)
      expect((await dying.exited).signal).to.equal('SIGKILL')

      const { url } = await world.start()
      const sent = (number: string) =>
        eventually(async () => {
          const answer = await world.send(url, number)
          expect(answer?.status, answer?.text).to.equal(200)
        }, ENOUGH_MS)
      await sent('+14155571001')
      await sent('+14155571002')
      await world.balance(url, OPENING - 2 * PRICE)
      const past = await world.send(url, '+14155571003')
      expect([past?.status, past?.body.scope]).to.deep.equal([429, 'spend_cap'])
    })
})
