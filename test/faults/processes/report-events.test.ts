// kill -9 at every step from the change that a report makes to the event that it causes. The event is there after the restart, once.
import { expect } from 'chai'
import { createBurstSite } from '../../support/burst-site.ts'
import type { CrashPoint } from '../../support/crash.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { useProcesses } from '../../support/processes.ts'
import { onEachEngineSet } from '../../support/site.ts'

/** The first change of a verification says that it was sent, the second that it was delivered. */
const POINTS: { what: string; point: CrashPoint }[] = [
  {
    what: 'after the message is sent, before its receipt',
    point: { port: 'store', method: 'otps.change', nth: 1, when: 'after' },
  },
  { what: 'before the change', point: { port: 'store', method: 'otps.change', nth: 2, when: 'before' } },
  {
    what: 'between the change and its event',
    point: { port: 'store', method: 'otps.change', nth: 2, when: 'after' },
  },
  {
    what: 'at the end of the report',
    point: { port: 'broker', method: 'handle', queue: 'otp.reports', nth: 2, when: 'after' },
  },
  {
    what: 'at the end of the delivery',
    point: { port: 'broker', method: 'handle', queue: 'channel.sms', nth: 1, when: 'after' },
  },
]
/** The embedded store writes change and event at once, so that these steps do not exist there. */
const POINTS_OF_REAL_ENGINES: typeof POINTS = [
  {
    what: 'before the event is stored',
    point: { port: 'store', method: 'events.insert', nth: 1, when: 'before' },
  },
  {
    what: 'between the event and the end of the report',
    point: { port: 'store', method: 'events.insert', nth: 1, when: 'after' },
  },
]

onEachEngineSet('a report whose process is killed', engines => {
  const { site, crashing } = useProcesses()

  const points = [...stepsOn(engines, POINTS), ...(engines === 'real' ? POINTS_OF_REAL_ENGINES : [])]
  for (const { what, point } of points)
    it(`${what} leads to one event`, async () => {
      const burstSite = await createBurstSite({ site, crashing }, engines)
      const dying = await burstSite.start(point)
      const sent = await burstSite.send(dying.url, '+14155570001')
      expect(sent?.status, sent?.text).to.equal(200)
      expect((await dying.exited).signal).to.equal('SIGKILL')
      const { url } = await burstSite.start()
      const { otp_id } = sent?.body ?? {}
      await burstSite.expectDelivered(url, '+14155570001', otp_id)
      await eventually(async () => expect(await burstSite.deliveredEvents(url)).to.deep.equal([otp_id]))
    })
})
