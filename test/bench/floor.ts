// The floor: the least that a whole send can cost on these engines, as the yardstick of `bench -- cost`. One send is three inserts
// and one update, and everything is batched:
//   bare.edge.process      takes the call over Koa and sends it to the actor; calls of one tick share a frame.
//   floor.actor.process    inserts the OTPs of all calls that wait, publishes one confirmed message for all of them, and answers. For
//                          reports: updates each OTP once, all in one bulk by `_id`, and inserts their events.
//   floor.channel.process  inserts the attempts of all messages that wait, and publishes one report for all of them.
//
// In it: this repository's broker and store adapters; quorum queues; writes and publishes as durable as the product's; documents
// and indexes of a send with a test key through the sandbox, as the product 0.2.0 wrote them. They are fixed here, so that a
// smaller document or an index less is a gain of the product and does not lower the floor.
// Not in it: keys, validation, seals, the state machine, limits, fraud guard, money, the sandbox's inbox, conditional writes, outbox,
// retries, logs, metrics, sweeper, health checks, and the processes of roles that a send does not need.
import { randomBytes, randomUUID } from 'node:crypto'
import { newId } from '../../infra/ids.ts'
import { partitionOf } from '../../infra/partitions.ts'
import type { Doc, Update } from '../../infra/store/docs.ts'
import { collection } from '../../infra/store/store.ts'

export interface Sent {
  otp_id: string
  delivery_id: string
}

type FloorDoc = Doc & Record<string, unknown>

export const FLOOR_COLLECTIONS = {
  otps: collection<FloorDoc>({
    indexes: [
      { fields: { recipient: 1, _id: -1, 'context.started_by.kind': 1 } },
      { fields: { app_id: 1, _id: -1 } },
      { fields: { reference: 1 }, partial: { reference: { $exists: true } } },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } } },
      { fields: { partition: 1, outbox_at: 1 }, partial: { outbox_at: { $gt: 0 } } },
    ],
    purged: true,
  }),
  attempts: collection<FloorDoc>({
    indexes: [{ fields: { app_id: 1, provider: 1, reference: 1 }, partial: { reference: { $gt: '' } } }],
    purged: true,
  }),
  events: collection<FloorDoc>({
    indexes: [
      { fields: { app_id: 1, _id: -1 } },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } } },
      { fields: { app_id: 1, backlog_at: 1 }, partial: { backlog_at: { $gt: 0 } } },
      { fields: { 'payload.otp_id': 1, _id: -1 } },
      { fields: { app_id: 1, status: 1, _id: -1 }, partial: { status: { $gt: 'delivered', $lt: 'pending' } } },
    ],
    purged: true,
  }),
}

const OWNER = { company_id: 'cmp_bench', app_id: 'app_bench', mode: 'test' }
const MASKED = '+91****73'
const TTL_MS = 600_000
const purgeAt = (at: number): Date => new Date(at + 30 * 86_400_000)
/** As long as a value that is sealed or indexed, and different in every document. */
const random = (length: number): string => randomBytes(length).toString('base64url').slice(0, length)

export const newSent = (at: number): Sent => ({ otp_id: newId('otp', at), delivery_id: newId('dlv', at) })

const deliveryOf = (delivery_id: string, status: string, at: number) => ({
  delivery_id,
  channel: 'sms',
  generation: 1,
  status,
  created_at: at,
  updated_at: at,
  micros: 0,
})

/** 1,898 bytes of BSON, and 1,878 after its update. */
export function newOtp({ otp_id, delivery_id }: Sent, at: number): FloorDoc {
  const recipient = random(43)
  return {
    _id: otp_id,
    ...OWNER,
    machine: 'otp',
    version: 1,
    value: 'pending',
    context: {
      otp_id,
      ...OWNER,
      started_by: { key_id: 'key_bench', kind: 'server' },
      recipient: { kind: 'phone', sealed: random(61), index: recipient, masked: MASKED, country: 'IN' },
      client_ip: null,
      locale: 'en',
      code: { secret: 'k1', salt: random(73), length: 6 },
      rules: {
        ttl_ms: TTL_MS,
        verify_attempts: 5,
        send_attempts: 5,
        cooldowns_ms: [30_000, 60_000, 120_000],
        token_ttl_ms: 600_000,
        auto_fallback: false,
      },
      order: ['sms', 'whatsapp', 'telegram', 'email'],
      whatsapp: 'template',
      channel: 'sms',
      tried: ['sms'],
      generation: 1,
      link: null,
      sends: 1,
      wrong_codes: 0,
      first_sent_at: at,
      last_sent_at: at,
      expires_at: at + TTL_MS,
      deliveries: [deliveryOf(delivery_id, 'queued', at)],
      approval: null,
      exchange: null,
    },
    last_commands: [{ id: randomUUID(), reply: { kind: 'accepted' } }],
    recipient,
    due_at: at + TTL_MS,
    created_at: at,
    partition: partitionOf(otp_id),
    outbox: [{ id: delivery_id, queue: 'channel.sms', body: { otp_id, delivery_id, generation: 1 }, at }],
    outbox_at: at,
    first: {
      otp_id,
      status: 'pending',
      channel: 'sms',
      masked_recipient: MASKED,
      sealed_action_url: null,
      completion: 'code',
    },
    rev: 1,
    purge_at: purgeAt(at),
  }
}

/** Leaves the OTP as it is after `sent` and the receipt. */
export const deliveredOtp = ({ delivery_id }: Sent, at: number): Update<FloorDoc> => ({
  $set: {
    'context.deliveries': [deliveryOf(delivery_id, 'delivered', at)],
    last_commands: [
      { id: randomUUID(), reply: { kind: 'accepted' } },
      { id: `${delivery_id}:sent`, reply: { kind: 'noted', changed: true } },
      { id: `${delivery_id}:receipt:1`, reply: { kind: 'noted', changed: true } },
    ],
    outbox: [],
    outbox_at: null,
    rev: 3,
  },
})

/** 270 bytes. */
export const newAttempt = ({ otp_id, delivery_id }: Sent, at: number): FloorDoc => ({
  _id: `${delivery_id}:sandbox`,
  otp_id,
  app_id: OWNER.app_id,
  delivery_id,
  provider: 'sandbox',
  round: 1,
  purge_at: purgeAt(at),
  rev: 1,
  at,
  result: 'accepted',
  reference: null,
})

/** 382 bytes. */
export function newEvent({ otp_id, delivery_id }: Sent, at: number): FloorDoc {
  const _id = newId('evt', at)
  return {
    _id,
    ...OWNER,
    type: 'delivery.delivered',
    payload: { otp_id, delivery_id, status: 'delivered' },
    created_at: at,
    purge_at: purgeAt(at),
    status: 'unsent',
    partition: partitionOf(_id),
    round: 1,
    tries: 0,
    attempts: [],
    rev: 0,
  }
}

/** One handler at a time takes everything that waits: groups are as large as the load allows. */
export const FLOOR_FLOW = { prefetch: 256, batch: 256, parallel: 1 }
