// Scaling out and in while callers send: processes of two roles are added, take part, and are told to stop. No caller notices, and nothing
// is repaired afterwards: no sweeper runs.
import { expect } from 'chai'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { LIVE_SEND_ENV, useLiveSends } from '../../support/live-sends.ts'
import { type CountersignProcess, useProcesses } from '../../support/processes.ts'
import { waitingMessages } from '../../support/rabbitmq.ts'

const STOPPED = { code: 0, signal: null }
/** So that a process that is told to stop has some calls under way. */
const GATEWAY_MS = 300
/** Of each process that is added, and of those that are left afterwards. */
const ENOUGH_WORK = 20

/** One line for each call, or each message to a provider. */
const WORK = /"msg":"(call\.answered|delivery\.attempted)"/
const workOf = ({ lines }: CountersignProcess): number => lines.filter(line => WORK.test(line)).length
const errorsOf = ({ lines }: CountersignProcess): string[] => lines.filter(line => /"level":"(error|fatal)"/.test(line))

onRealEngines('processes that are added and removed under load', { AMQP_URL, MONGODB_URL }, () => {
  const { site, crashing } = useProcesses()
  const open = useLiveSends()

  it('cost no call, no message and no second message', async () => {
    const here = await site('real', LIVE_SEND_ENV)
    const sends = await open(here, { gatewayMs: GATEWAY_MS })
    const start = (...roles: string[]) => crashing(here, { env: sends.env, roles })
    const stop = async (one: CountersignProcess): Promise<void> => {
      one.process.kill('SIGTERM')
      expect(await one.exited).to.deep.equal(STOPPED)
    }
    const waiting = () => waitingMessages({ topology: here.topology(), prefix: here.prefix })
    const lasting = start('edge', 'otp', 'channel:sms')
    const added: CountersignProcess[] = []
    const url = await lasting.ready()
    await sends.sendDuring(url, async () => {
      added.push(start('otp'), start('channel:sms'))
      for (const one of added) await one.ready()
      await eventually(() => {
        for (const one of added) expect(workOf(one)).to.be.at.least(ENOUGH_WORK)
      })
      await Promise.all(added.map(stop))
      const before = sends.accepted()
      await eventually(() => expect(sends.accepted()).to.be.at.least(before + ENOUGH_WORK))
    })
    expect(sends.failures()).to.deep.equal({})
    await sends.waitForAll()
    await eventually(async () => expect(await waiting()).to.deep.equal({}))
    // A message that a process still held would be back in its queue.
    await stop(lasting)
    expect(await waiting()).to.deep.equal({})
    expect(sends.arrivalCounts()).to.deep.equal({ 1: sends.accepted() })
    expect([lasting, ...added].flatMap(errorsOf)).to.deep.equal([])
  })
})
