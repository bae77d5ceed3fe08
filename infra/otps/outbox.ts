// Effects on their way out. Saved with the change that caused them; published after it; removed once the broker has them. What a
// crash or a broker that is down leaves behind, the sweeper publishes again: consumers know an effect by its id.

import type { Effect } from '../../machines/otp.ts'
import type { Broker } from '../broker/broker.ts'
import { channelQueue } from '../broker/topology.ts'
import { gather } from '../gather.ts'
import type { Logger } from '../log.ts'
import type { Docs, Pipeline } from '../store/docs.ts'
import type { DeliverBody, NotifyBody, OtpDoc, Outgoing } from './documents.ts'

type Owner = Pick<OtpDoc, '_id' | 'app_id' | 'company_id' | 'mode'>

/** Where each effect goes, and what it says there: ids only, nothing secret. */
export const outgoing = (otp: Owner, effects: readonly Effect[], at: number): Outgoing[] =>
  effects.map(effect => {
    if (effect.type === 'deliver') {
      const body: DeliverBody = { otp_id: otp._id, delivery_id: effect.id, generation: effect.generation }
      return { id: effect.id, queue: channelQueue(effect.channel), body, at }
    }
    const { app_id, company_id, mode } = otp
    const body: NotifyBody = {
      event_id: effect.id,
      app_id,
      company_id,
      mode,
      type: effect.event,
      payload: effect.payload,
      at,
    }
    return { id: effect.id, queue: 'webhook.deliver', body, at }
  })

export interface Relay {
  /** Publishes in the background and forgets what arrived. Never rejects: what fails stays in the outbox. */
  (otp_id: string, effects: readonly Outgoing[]): void
  /** Resolves when nothing is being published any more. */
  settled(): Promise<void>
}

const PULLS = { most: 500, parallel: 2 }

export function relaying(parts: {
  broker: Pick<Broker, 'publish'>
  otps: Pick<Docs<OtpDoc>, 'change'>
  log: Logger
}): Relay {
  const { broker, otps, log } = parts
  const forget = gather<{ otp_id: string; id: string }, unknown>(
    sent => otps.change(sent.map(({ otp_id, id }) => ({ _id: otp_id, update: without(id) }))),
    PULLS,
  )
  const under = new Set<Promise<void>>()
  const relay = (otp_id: string, effects: readonly Outgoing[]): void => {
    for (const { id, queue, body } of effects) {
      const sending = broker
        .publish(queue, { id, body })
        .then(() => forget([{ otp_id, id }]))
        .then(
          () => {},
          error => log.warn({ err: error, otp_id, queue, effect_id: id }, 'effect.kept'),
        )
        .finally(() => under.delete(sending))
      under.add(sending)
    }
  }
  return Object.assign(relay, { settled: async () => void (await Promise.all(under)) })
}

/** Takes an effect out of the outbox whatever has become of the verification, and says when the outbox is empty. */
const without = (id: string): Pipeline => [
  { $set: { outbox: { $filter: { input: '$outbox', as: 'effect', cond: { $ne: ['$$effect.id', id] } } } } },
  { $set: { outbox_at: { $cond: [{ $eq: [{ $size: '$outbox' }, 0] }, null, '$outbox_at'] } } },
]
