import { expect } from 'chai'
import { createMetrics } from '../../infra/metrics.ts'

describe('metrics', () => {
  it('show what was measured, in the format of Prometheus', async () => {
    const metrics = createMetrics()
    metrics.httpRequestDuration.observe({ method: 'POST', route: '/api/v1/otp/send' }, 0.02)
    const { contentType, body } = await metrics.render()
    expect(contentType).to.match(/^text\/plain; version=0\.0\.4/)
    const labels = 'method="POST",route="/api/v1/otp/send"'
    expect(body).to.contain(`countersign_http_request_duration_seconds_bucket{le="0.005",${labels}} 0`)
    expect(body).to.contain(`countersign_http_request_duration_seconds_bucket{le="0.025",${labels}} 1`)
    expect(body).to.contain(`countersign_http_request_duration_seconds_count{${labels}} 1`)
  })

  it('of two systems in one process do not mix', async () => {
    const [one, other] = [createMetrics(), createMetrics()]
    one.brokerMessages.inc({ queue: 'otp.reports', outcome: 'done' })
    expect((await one.render()).body).to.contain(
      'countersign_broker_messages_total{queue="otp.reports",outcome="done"} 1',
    )
    expect((await other.render()).body).not.to.contain('outcome="done"')
  })

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
    metrics.beforeScrape(async () => Promise.reject(new Error('down')))
    metrics.beforeScrape(() => metrics.queueReady.set({ queue: 'channel.sms' }, ++depth))
    expect((await metrics.render()).body).to.contain('countersign_queue_ready{queue="channel.sms"} 1')
    expect((await metrics.render()).body).to.contain('countersign_queue_ready{queue="channel.sms"} 2')
  })
})
