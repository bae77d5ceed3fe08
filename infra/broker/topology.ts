// Every queue there is, in one table, and the delays a retry on it can have. Both adapters are built from this.
export type ChannelQueue = 'channel.sms' | 'channel.whatsapp' | 'channel.telegram' | 'channel.email'
export type WorkQueue = 'otp.reports' | 'webhook.deliver' | ChannelQueue
export type CallQueue = 'otp.calls'
export type Queue = WorkQueue | CallQueue

export interface Topology {
  readonly calls: readonly CallQueue[]
  /** Each work queue and its delays in milliseconds, ascending: one wait queue each. */
  readonly work: Readonly<Record<WorkQueue, readonly number[]>>
}

/** Engine trouble met while handling a report: soon, then calmly. Not an operator's setting. */
const REPORT_DELAYS = [1_000, 5_000, 30_000]

export function createTopology(backoff: { channel: readonly number[]; webhook: readonly number[] }): Topology {
  const channel = ascending(backoff.channel)
  return {
    calls: ['otp.calls'],
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

/** The declared delay a retry takes: the shortest that is long enough, else the longest (the handler, woken early, asks again). */
export const delayFor = (delays: readonly number[], afterMs: number): number | undefined =>
  delays.find(delay => delay >= afterMs) ?? delays.at(-1)

const ascending = (delays: readonly number[]): number[] => [...new Set(delays)].sort((a, b) => a - b)
