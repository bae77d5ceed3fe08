// Messages through a channel actor to a provider on loopback, on RabbitMQ and MongoDB. Compares one process with bare HTTP calls from one
// process, two processes with one, and a channel alone with one beside a channel whose provider hangs. All messages are queued first;
// the figure is how fast they arrive at the provider, without the warm-up.
import process from 'node:process'
import type { Channel } from '../../machines/channels.ts'
import type { Child } from '../support/child.ts'
import { openChannelSite, queueMessages } from './channel-queue.ts'
import { addressOf, launchProcess, stopProcess } from './launch.ts'
import { alternating, quantile } from './measure.ts'
import { print } from './report.ts'
import { needsRealEngines, ROUNDS } from './under-load.ts'

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 6_000)
/** Not counted, because a process that has just started is still compiling its code. */
const WARM_UP_MESSAGES = Math.floor(MESSAGES / 3)
const AT_ONCE = 200

interface Bench {
  /** Queues messages, starts these processes and answers how many messages arrived per second. Optionally beside a channel that hangs. */
  round(channels: Channel[][], hanging?: Channel): Promise<number>
  bare(): Promise<number>
  stop(): Promise<void>
}

export default async function channel(): Promise<void> {
  if (!needsRealEngines('channel')) return
  const bench = await open()
  try {
    const rates = await alternating(
      {
        bare: bench.bare,
        one: () => bench.round([['sms']]),
        two: () => bench.round([['sms'], ['sms']]),
        beside: () => bench.round([['sms']], 'telegram'),
      },
      ROUNDS,
    )
    const median = (name: keyof typeof rates): number => quantile(rates[name], 0.5)
    const one = { name: 'one channel process', value: median('one') }
    const per = { unit: 'per second' } as const
    print({
      what: 'messages',
      ...per,
      baseline: { name: 'bare HTTP calls, one process', value: median('bare') },
      variants: [one],
      aim: { says: '≥ 0.5', holds: (_: number, ratio: number) => ratio >= 0.5 },
    })
    print({ what: 'messages', ...per, baseline: one, variants: [{ name: 'two processes', value: median('two') }] })
    print({
      what: 'messages',
      ...per,
      baseline: one,
      variants: [{ name: 'beside a channel whose provider hangs', value: median('beside') }],
      aim: { says: 'within 10 %', holds: (_: number, ratio: number) => ratio >= 0.9 },
    })
  } finally {
    await bench.stop()
  }
}

async function open(): Promise<Bench> {
  const provider = launchProcess('provider.process', {})
  const url = await addressOf(provider)
  const { site, engines, close } = await openChannelSite()
  let rounds = 0

  /** Each round has its own app and paths. */
  async function round(layout: Channel[][], hanging?: Channel): Promise<number> {
    rounds += 1
    const path = (name: Channel): string => `/${name === hanging ? 'hang' : 'take'}/${rounds}/${name}`
    const [counted = 'sms'] = layout.flat()
    const channels = hanging ? [counted, hanging] : [counted]
    const app = `app_round${rounds}`
    const providers = channels.map(name => ({
      name,
      channel: name,
      type: 'http',
      config: { url: `${url}${path(name)}` },
    }))
    const companies = [{ id: `cmp_round${rounds}`, name: 'Bench', apps: [{ id: app, name: 'Shop', providers }] }]
    const BOOTSTRAP_FILE = await site.write('bootstrap.json', { companies })
    for (const name of channels) await queueMessages(engines, site, { channel: name, app_id: app, count: MESSAGES })
    const env = { ...site.env, AMQP_PREFIX: site.prefix, BOOTSTRAP_FILE }
    const start = (names: Channel[]): Child =>
      launchProcess(
        'countersign.process',
        env,
        names.map(name => `channel:${name}`),
      )
    const beside = hanging ? [start([hanging])] : []
    if (hanging) await waitForArrivals(url, path(hanging), 1)
    const processes = [...layout.map(start), ...beside]
    const rate = await measureArrivalRate(url, path(counted))
    await Promise.all(processes.map(stopProcess))
    return rate
  }

  return {
    round,
    async bare() {
      rounds += 1
      const path = `/take/${rounds}/bare`
      const calls = launchProcess('bare.calls.process', {}, [url, path, String(MESSAGES), String(AT_ONCE)])
      const rate = await measureArrivalRate(url, path)
      await calls.exited
      return rate
    },
    async stop() {
      await stopProcess(provider)
      await close()
    },
  }
}

/** Messages per second, from the first counted one to the last. */
const measureArrivalRate = async (url: string, path: string): Promise<number> =>
  ((MESSAGES - WARM_UP_MESSAGES) * 1_000) / (await waitForArrivals(url, path, MESSAGES))

/** Waits for `count` messages; answers how long they took from the first counted one. */
async function waitForArrivals(url: string, path: string, many: number): Promise<number> {
  const headers = { 'x-from': String(WARM_UP_MESSAGES), 'x-to': String(many) }
  for (;;) {
    const { count, ms } = (await (await fetch(`${url}/arrivals${path}`, { headers })).json()) as Record<string, number>
    if ((count ?? 0) >= many) return ms ?? 0
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}
