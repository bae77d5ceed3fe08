// An OTP actor on the test's own store, called as the edge calls it. Nothing consumes the channel queues, so messages stay queued.
import { randomUUID } from 'node:crypto'
import type { Broker } from '../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../infra/broker/embedded.ts'
import { createTopology } from '../../infra/broker/topology.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { OtpAnswer, OtpCall } from '../../machines/calls.ts'
import type { KeyKind, Mode } from '../../machines/otp.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { atRest, inFlight } from '../../services/domain/verifications/encryption-context.ts'
import { claimOf } from '../../services/edge/calls.ts'
import { createOtpService } from '../../services/otp/service.ts'
import { createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'
import { testKeyring } from './tenancy.ts'

interface SendOptions {
  company: string
  app: string
  recipient: string
  mode?: Mode
  kind?: KeyKind
  /** An idempotency key, as an edge with the actor's data keys hands it over. */
  idempotency?: string
  metadata?: Record<string, string>
}

export interface TestActor {
  broker: Broker
  clock: TestClock
  /** `action_url` is the link, unsealed; null without a link. */
  send(options: SendOptions): Promise<{ otp_id: string; action_url: string | null; status: string; replayed: boolean }>
  /** `id`: of the message, which stays the same when it is delivered again. */
  ask(call: OtpCall, id?: string): Promise<OtpAnswer>
  close(): Promise<void>
}

export async function startOtpActor(store: CountersignStore, keyring: Keyring = testKeyring()): Promise<TestActor> {
  const clock = testClock()
  const { log } = createCapturedLog()
  const topology = createTopology({ channel: [1_000], webhook: [1_000] })
  const broker = createEmbeddedBroker({ topology, clock, log })
  await createOtpService({ broker, store, keyring, clock, log, metrics: createMetrics() }).attach?.()
  const ask = async (body: OtpCall, id: string = randomUUID()) =>
    (await broker.request('otp.calls', { id, body }, 10_000)) as OtpAnswer

  return {
    broker,
    clock,
    ask,
    async send({ company, app, recipient, mode = 'test', kind = 'server', idempotency = '', metadata }) {
      const by = { company_id: company, app_id: app, mode, key_id: `key_${kind}`, kind }
      const answer = await ask({
        type: 'otp.send',
        by,
        otp_id: newId('otp', clock.now()),
        sealed_recipient: keyring.seal(recipient, inFlight.recipient),
        locale: null,
        sealed_client_ip: null,
        ...(metadata ? { sealed_metadata: keyring.seal(JSON.stringify(metadata), inFlight.metadata) } : {}),
        claim: claimOf(keyring, by, idempotency),
      })
      if (answer.kind !== 'verification') throw new Error(`not sent: ${JSON.stringify(answer)}`)
      const { replayed = false, verification } = answer
      const { otp_id, sealed_action_url, status } = verification
      const action_url = sealed_action_url === null ? null : keyring.unseal(sealed_action_url, atRest.link(otp_id))
      return { otp_id, action_url, status, replayed }
    },
    close: () => broker.close(0),
  }
}
