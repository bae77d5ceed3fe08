import { expect } from 'chai'
import { done } from '../../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../../infra/broker/embedded.ts'
import { createTopology } from '../../../infra/broker/topology.ts'
import { createMetrics } from '../../../infra/metrics.ts'
import { PARTITIONS } from '../../../infra/partitions.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { COLLECTIONS } from '../../../services/domain/collections.ts'
import type { OtpDoc } from '../../../services/domain/verifications/documents.ts'
import { createSweeperService } from '../../../services/sweeper/service.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { testKeyring } from '../../support/tenancy.ts'

describe('the sweeper', () => {
  it('sweeps nothing and gives its leases back while it is paused, and goes on when it is resumed', async () => {
    const [clock, { log }] = [testClock(), createCapturedLog()]
    const store = createEmbeddedStore({ folder: createTemporaryFolder(), collections: COLLECTIONS, clock })
    const broker = createEmbeddedBroker({ topology: createTopology({ channel: [], webhook: [] }), clock, log })
    const outbound = { request: () => Promise.reject(new Error('no call is expected')) }
    const sweeper = createSweeperService({
      config: { engine: { kind: 'embedded' } },
      store,
      broker,
      clock,
      log,
      outbound,
      keyring: testKeyring(),
      metrics: createMetrics(),
    })
    const reminded: unknown[] = []
    await broker.consume(
      'otp.reports',
      async waiting => {
        reminded.push(...waiting.map(({ body }) => body))
        return waiting.map(done)
      },
      { prefetch: 10 },
    )
    const names = Array.from({ length: PARTITIONS }, (_, partition) => `sweep:${partition}`)
    const leases = async () => (await store.docs('leases').get(names)).size
    /** A sweep takes many turns of the event loop. */
    const inTime = (assertion: () => unknown) =>
      eventually(async () => {
        await clock.advance(1_000)
        await assertion()
      })

    await sweeper.attach?.()
    await inTime(async () => expect(await leases()).to.equal(PARTITIONS))

    sweeper.pause?.()
    const due = { _id: 'otp_due', rev: 1, partition: 3, outbox: [], outbox_at: null, due_at: clock.now() }
    await store.docs('otps').insert([due as unknown as OtpDoc])
    await inTime(async () => expect(await leases()).to.equal(0))
    for (let sweeps = 0; sweeps < 10; sweeps += 1) await clock.advance(1_000)
    expect([await leases(), reminded]).to.deep.equal([0, []])

    sweeper.resume?.()
    await inTime(async () => expect(await leases()).to.equal(PARTITIONS))
    await inTime(() => expect(reminded).to.have.length(1))
    expect(reminded).to.deep.equal([{ type: 'otp.due', otp_id: 'otp_due' }])

    await sweeper.stop?.()
    await broker.close(0)
    await store.close()
  })
})
