// Messages that wait in a channel's queue, for benches of channel actors: a site, its engines, and the state that the OTP actor leaves.
import { randomBytes } from 'node:crypto'
import { systemClock } from '../../infra/clock.ts'
import { readConfig } from '../../infra/config/config.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { createLog } from '../../infra/log/log.ts'
import type { Channel } from '../../machines/channels.ts'
import { channelQueue } from '../../services/domain/verifications/queue-messages.ts'
import { type Engines, openEngines } from '../../services/main.ts'
import { deliverBody, newOtpDocument } from '../support/queued-otps.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { type Env, freshSite, type Site } from '../support/site.ts'

const BATCH_SIZE = 500

const secret = (): string => `k1:${randomBytes(32).toString('base64')}`

interface ChannelSite {
  site: Site
  engines: Engines
  close(): Promise<void>
}

/** `settings`: more settings of the processes. */
export async function openChannelSite(settings: Env = {}): Promise<ChannelSite> {
  const site = await freshSite(
    'real',
    {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      CODE_SECRETS: secret(),
      DATA_KEYS: secret(),
      ADMIN_TOKEN: 'the-operator-of-the-bench',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      ...settings,
    },
    { dropsDatabase: true },
  )
  const engines = await openEngines(readConfig(site.env, []), systemClock, createLog({ level: 'silent' }), {
    prefix: site.prefix,
  })
  await waitUntilUp(engines.broker)
  return {
    site,
    engines,
    async close() {
      await engines.broker.close(0)
      await engines.store.close()
      await site.wipe()
    },
  }
}

/** Prepares the state that the OTP actor leaves: verifications in the store, and their deliveries in the queue. */
export async function queueMessages(
  { store, broker }: Engines,
  site: Site,
  { channel, app_id, count }: { channel: Channel; app_id: string; count: number },
): Promise<void> {
  const { secrets } = readConfig(site.env, [])
  const keyring = createKeyring({ dataKeys: secrets.data ?? [], codeSecrets: secrets.code ?? [] })
  for (let first = 0; first < count; first += BATCH_SIZE) {
    const docs = Array.from({ length: Math.min(BATCH_SIZE, count - first) }, () =>
      newOtpDocument({ keyring, clock: systemClock }, { mode: 'live', app_id, order: [channel] }),
    )
    await store.docs('otps').insert(docs)
    await Promise.all(
      docs.map(doc => {
        const body = deliverBody(doc)
        return broker.publish(channelQueue(channel), { id: body.delivery_id, body })
      }),
    )
  }
}
