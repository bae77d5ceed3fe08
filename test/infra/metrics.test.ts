import { expect } from 'chai'
import { createMetrics } from '../../infra/metrics.ts'
import { createReading } from '../../infra/reading.ts'
import { testClock } from '../support/clock.ts'
import { promiseState } from '../support/promise-state.ts'

describe('metrics', () => {
  it('all begin with countersign_ and have a help text; metrics of the process are optional', async () => {
    const { body } = await createMetrics().render()
    const helped = [...body.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name]) => name)
    expect(helped)
      .to.have.length([...body.matchAll(/^# TYPE /gm)].length)
      .and.include('countersign_queue_ready')
    for (const name of helped) expect(name).to.match(/^countersign_[a-z_]+$/)
    const { body: all } = await createMetrics({ processMetrics: true }).render()
    expect(all).to.contain('process_cpu_user_seconds_total')
    for (const [, name, type] of all.matchAll(/^# TYPE (\S+) (\S+)$/gm))
      expect(name?.endsWith('_total'), name).to.equal(type === 'counter')
  })

  it('run their tasks before each scrape, which does not fail if a task fails', async () => {
    const metrics = createMetrics()
    let depth = 0
    metrics.beforeScrape(() => {
      throw new Error('down')
    })
    metrics.beforeScrape(() => metrics.queueReady.set({ queue: 'channel.sms' }, ++depth))
    expect((await metrics.render()).body).to.contain('countersign_queue_ready{queue="channel.sms"} 1')
    expect((await metrics.render()).body).to.contain('countersign_queue_ready{queue="channel.sms"} 2')
  })

  it('show what an engine was asked for while it is recent, with its age, and are shown while the engine hangs', async () => {
    const metrics = createMetrics()
    const clock = testClock()
    let engine = async (): Promise<number> => 7
    let isShown = true
    metrics.showReading({
      name: 'outbox',
      reading: createReading({ read: () => engine(), clock }),
      show: seconds => (seconds === null ? metrics.outboxOldest.remove() : metrics.outboxOldest.set(seconds)),
      isShown: () => isShown,
    })
    const scrape = async (): Promise<string[]> => {
      const rendered = promiseState(metrics.render())
      await clock.advance(900)
      expect(rendered.state).to.equal('resolved')
      const { body } = rendered.value as Awaited<ReturnType<typeof metrics.render>>
      return body.split('\n').filter(line => /^countersign_(outbox|reading)/.test(line))
    }
    const age = (seconds: number): string => `countersign_reading_age_seconds{reading="outbox"} ${seconds}`
    expect(await scrape()).to.deep.equal(['countersign_outbox_oldest_seconds 7', age(0)])
    engine = () => new Promise(() => {})
    await clock.advance(1_100)
    expect(await scrape()).to.deep.equal(['countersign_outbox_oldest_seconds 7', age(2.5)])
    await clock.advance(7_100)
    expect(await scrape()).to.deep.equal([age(10.5)])
    isShown = false
    expect(await scrape()).to.deep.equal([])
  })
})
