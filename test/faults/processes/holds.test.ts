// kill -9 around the save of a paid send: the sweeper voids a hold whose verification was never saved, and keeps the hold of one that was
// saved, although its process did not come to say so.
import { expect } from 'chai'
import { createBurstSite, OPENING_BALANCE, PRICE } from '../../support/burst-site.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { useProcesses } from '../../support/processes.ts'
import { onEachEngineSet } from '../../support/site.ts'

const AFTER_THE_SAVE: [step: string, method: string, when: CrashPoint['when']][] = [
  ['before the hold was confirmed', 'otps.insert', 'after'],
  ['before the confirmed hold was in the ledger', 'ledger.insert', 'before'],
]

onEachEngineSet('the hold of a send that was cut off by kill -9', engines => {
  const { site, crashing } = useProcesses()

  for (const [step, method, when] of stepsOn(engines, AFTER_THE_SAVE))
    it(`is kept if the process died after the save and ${step}, and is voided if it died before the save`, async () => {
      const burstSite = await createBurstSite({ site, crashing }, engines)
      // The opening balance comes to the ledger first, so that the process below dies at its own hold.
      const first = await burstSite.start()
      expect((await burstSite.ledger(first.url)).map(({ kind }) => kind)).to.deep.equal(['credit'])
      await first.kill()

      const cutOff = async (method: string, when: CrashPoint['when'], recipient: string): Promise<void> => {
        const dying = await burstSite.start({ port: 'store', method, nth: 1, when })
        expect(await burstSite.send(dying.url, recipient), 'no answer').to.equal(null)
        expect((await dying.exited).signal).to.equal('SIGKILL')
      }
      await cutOff(method, when, '+14155572001')
      await cutOff('otps.insert', 'before', '+14155572002')

      const { url } = await burstSite.start()
      // The hold that is kept is older, so it has been checked when the other one is voided.
      const entries = await eventually(async () => {
        const items = await burstSite.ledger(url)
        expect(items.map(({ kind }) => kind)).to.include('void')
        return items
      })
      expect(entries.map(({ kind }) => kind).filter(kind => kind !== 'hold')).to.deep.equal(['void', 'credit'])
      // RabbitMQ delivers the second call again, to the process that comes next, and then there is a third hold, with its verification.
      const [kept, voided, ...again] = entries.filter(({ kind }) => kind === 'hold').reverse()
      const saved = [kept, ...again].map(hold => hold?.otp_id)
      expect(await burstSite.otpIds(url)).to.have.members(saved)
      expect(entries.find(({ kind }) => kind === 'void')?.delivery_id).to.equal(voided?.delivery_id)
      await burstSite.expectBalance(url, OPENING_BALANCE - saved.length * PRICE)
    })
})
