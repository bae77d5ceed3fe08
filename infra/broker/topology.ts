// Every queue, in one table, with the delays that a retry on it can have. Both adapters are built from this table.
export type ChannelQueue = 'channel.sms' | 'channel.whatsapp' | 'channel.telegram' | 'channel.email'
export type WorkQueue = 'otp.reports' | 'webhook.deliver' | ChannelQueue
/** Calls to the processes of one channel, such as a test of a provider. */
export type ChannelCallQueue = `${ChannelQueue}.calls`
export type CallQueue = 'otp.calls' | ChannelCallQueue
export type Queue = WorkQueue | CallQueue

export const CALL_QUEUES: readonly CallQueue[] = [
  'otp.calls',
  'channel.sms.calls',
  'channel.whatsapp.calls',
  'channel.telegram.calls',
  'channel.email.calls',
]
export const WORK_QUEUES: readonly WorkQueue[] = [
  'otp.reports',
  'channel.sms',
  'channel.whatsapp',
  'channel.telegram',
  'channel.email',
  'webhook.deliver',
]
export const QUEUES: readonly Queue[] = [...CALL_QUEUES, ...WORK_QUEUES]

/** The start of every queue's name on RabbitMQ. Holds a version, which must change when the arguments of a queue change. */
export const DEFAULT_PREFIX = 'countersign.v1'

export const isQueue = (name: string): name is Queue => (QUEUES as readonly string[]).includes(name)
/** Calls are answered or forgotten, so only work has dead letters. */
export const isWorkQueue = (name: string): name is WorkQueue => (WORK_QUEUES as readonly string[]).includes(name)

export interface Topology {
  readonly calls: readonly CallQueue[]
  /** The delays of each work queue in milliseconds, ascending. On RabbitMQ each delay is a wait queue. */
  readonly work: Readonly<Record<WorkQueue, readonly number[]>>
}

/** A report is retried only when the store or the broker failed: soon, then less often. Operators cannot set this. */
const REPORT_DELAYS = [1_000, 5_000, 30_000]

export function createTopology(backoff: { channel: readonly number[]; webhook: readonly number[] }): Topology {
  const channel = ascending(backoff.channel)
  return {
    calls: CALL_QUEUES,
    work: {
      'otp.reports': REPORT_DELAYS,
      'channel.sms': channel,
      'channel.whatsapp': channel,
      'channel.telegram': channel,
      'channel.email': channel,
      'webhook.deliver': ascending(backoff.webhook),
    },
  }
}

/** The shortest delay that is long enough, else the longest: a handler that is called too early asks for another retry. */
export const delayFor = (delays: readonly number[], afterMs: number): number | undefined =>
  delays.find(delay => delay >= afterMs) ?? delays.at(-1)

const ascending = (delays: readonly number[]): number[] => [...new Set(delays)].sort((a, b) => a - b)
