import { expect } from 'chai'
import type { Death } from '../../../infra/broker/broker.ts'
import { createDeaths } from '../../../infra/broker/deaths.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'

describe('deaths of messages', () => {
  function open() {
    const clock = testClock()
    const captured = createCapturedLog()
    const deaths = createDeaths({ clock, log: captured.log })
    const events = () => captured.lines().map(({ msg, queue, count }) => [msg, queue, ...(count ? [count] : [])])
    return { clock, captured, deaths, events }
  }
  const death = (id: string, more: Partial<Death> = {}): Death => ({
    queue: 'channel.sms',
    id,
    attempt: 3,
    reason: 'no use',
    cause: 'gave_up',
    ...more,
  })

  it('are a line each, with queue, id, attempts, reason and cause; an error where the handler threw', () => {
    const { captured, deaths } = open()
    deaths.record(death('a'))
    deaths.record(death('b', { cause: 'threw' }), new Error('boom'))
    const [first, second] = captured.lines()
    expect(first).to.deep.include({
      level: 'warn',
      msg: 'message.dead',
      queue: 'channel.sms',
      id: 'a',
      attempts: 3,
      reason: 'no use',
      cause: 'gave_up',
    })
    expect(second).to.include({ level: 'error', msg: 'message.dead', id: 'b' })
    expect(second?.err).to.include({ message: 'boom' })
  })

  it('are preceded by a line for each throw, which count among the lines of the queue', () => {
    const { captured, deaths, events } = open()
    deaths.recordThrow(death('a', { attempt: 1 }), 5_000, new Error('boom'))
    expect(captured.lines()[0]).to.deep.include({
      level: 'error',
      msg: 'message.threw',
      queue: 'channel.sms',
      id: 'a',
      attempts: 1,
      retry_after_ms: 5_000,
    })
    for (let more = 0; more < 20; more += 1) deaths.recordThrow(death('a'), 5_000, new Error('boom'))
    deaths.close()
    expect(events().slice(20)).to.deep.equal([['messages.dead_not_logged', 'channel.sms', 1]])
  })

  it('are 20 lines in 10 s at most for each queue, and those left out are counted', async () => {
    const { clock, deaths, events } = open()
    const heard: string[] = []
    deaths.listen(({ id }) => void heard.push(id))
    for (let n = 0; n < 500; n += 1) deaths.record(death(`m${n}`))
    deaths.record(death('other', { queue: 'otp.reports' }))
    expect(heard).to.have.length(501)
    expect(events()).to.have.length(21)
    await clock.advance(10_000)
    expect(events().slice(21)).to.deep.equal([['messages.dead_not_logged', 'channel.sms', 480]])
    deaths.record(death('later'))
    expect(events()).to.have.length(23)
  })
})
