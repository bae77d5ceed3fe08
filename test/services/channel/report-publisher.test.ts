import { expect } from 'chai'
import type { Message } from '../../../infra/broker/broker.ts'
import type { DeliveryJob } from '../../../services/channel/provider.ts'
import { createPublishReport } from '../../../services/channel/report-publisher.ts'
import type { ReportBundle } from '../../../services/domain/verifications/queue-messages.ts'
import { testClock } from '../../support/clock.ts'

describe('reports of a channel', () => {
  const job = (n: number) =>
    ({ otp: { otp_id: `otp_${n}` }, delivery: { delivery_id: `dlv_${n}` } }) as Pick<DeliveryJob, 'otp' | 'delivery'>
  const createTestPublisher = (publish: (message: Message) => Promise<void>) =>
    createPublishReport({ broker: { publish: (_, message) => publish(message) }, clock: testClock() })

  it('of one tick share a message, each under the id it would have alone', async () => {
    const published: Message[] = []
    const publishReport = createTestPublisher(async message => void published.push(message))
    await publishReport(job(1), 'sent', {})
    await Promise.all([publishReport(job(1), 'delivered', {}, 'receipt:1'), publishReport(job(2), 'failed', {})])
    expect(published).to.have.length(2)
    const [alone, together] = published as [Message, Message]
    expect(alone.id).to.equal('dlv_1:sent')
    expect(alone.body).to.include({ type: 'delivery.reported', otp_id: 'otp_1', status: 'sent' })
    const { type, all } = together.body as ReportBundle
    expect(type).to.equal('reports')
    expect(all.map(({ id, report }) => [id, report.type])).to.deep.equal([
      ['dlv_1:receipt:1', 'delivery.reported'],
      ['dlv_2:failed', 'delivery.reported'],
    ])
  })

  it('have another message id in every batch, even if two batches begin with the same report', async () => {
    const ids = new Set<string>()
    const publishReport = createTestPublisher(async ({ id }) => void ids.add(id))
    await Promise.all([publishReport(job(1), 'sent', {}), publishReport(job(2), 'sent', {})])
    await Promise.all([publishReport(job(1), 'sent', {}), publishReport(job(3), 'sent', {})])
    expect(ids).to.have.length(2)
  })
})
