// Webhooks: events per second from the queue to a backend on loopback, compared with bare signed POSTs from one
// process; and how an endpoint that hangs delays the others.
import { Buffer } from 'node:buffer'
import { newId } from '../../infra/ids.ts'
import { signatureHeaders } from '../../services/domain/webhooks/signed-event.ts'
import { AMQP_URL, MONGODB_URL } from '../support/engines.ts'
import type { EngineSet } from '../support/site.ts'
import { launchProcess } from './launch.ts'
import { alternating, medians, perSecond, quantile } from './measure.ts'
import { print } from './report.ts'
import { benchOutbound, SECRET, startWebhookActor } from './webhook.actor.ts'

const EVENTS = 6_000
const ENDPOINTS = 8
const IN_FLIGHT = 64
const ROUNDS = 3
/** Below the capacity of the machine, so that delays come from the system. */
const STEADY = { perSecond: 150, seconds: 6, healthy: 4 }

export default async function webhookBench(): Promise<void> {
  const receiver = launchProcess('receiver.process', {})
  const { port } = JSON.parse(await receiver.waitForLine(line => line.includes('port'))) as { port: number }
  const url = (path: string): string => `http://127.0.0.1:${port}${path}`
  try {
    await measureOnEngines('embedded', 'Embedded engines', url)
    if (MONGODB_URL && AMQP_URL) await measureOnEngines('real', 'RabbitMQ and MongoDB', url)
    else console.log('\nRabbitMQ and MongoDB are not here: infra/engines.sh run npm run bench -- webhook')
  } finally {
    receiver.process.kill()
    await receiver.exited
  }
}

async function measureOnEngines(engines: EngineSet, title: string, url: (path: string) => string): Promise<void> {
  console.log(`\n${title}`)
  const spread = Array.from({ length: ENDPOINTS }, (_, n) => url(`/ok/${n}`))
  const bare = barePosts(url('/bare'))
  const contenders = {
    bare: bare.rate,
    many: () => measureDrain(engines, spread),
    one: () => measureDrain(engines, [url('/ok')]),
  }
  // The first round is not counted, because code is being compiled.
  await medians(contenders, 1)
  const figures = await medians(contenders, ROUNDS)
  await bare.close()
  print({
    what: 'events delivered',
    unit: 'per second',
    baseline: { name: `bare signed POSTs, ${IN_FLIGHT} under way`, value: figures.bare },
    variants: [
      { name: 'webhook actor, one endpoint', value: figures.one },
      { name: `webhook actor, ${ENDPOINTS} endpoints`, value: figures.many },
    ],
    aim: { says: '≥ 0.5', holds: (_, ratio) => ratio >= 0.5 },
  })
  const { calm, beside } = await alternating(
    { calm: () => measureSteadyLoad(engines, url, '/ok'), beside: () => measureSteadyLoad(engines, url, '/hang') },
    ROUNDS,
  )
  const [without, withOne] = [calm, beside].map(rounds => quantile(rounds, 0.5)) as [number, number]
  print({
    what: 'from happening to its answer, p99 of healthy endpoints',
    unit: 'ms',
    baseline: { name: 'none hanging', value: without },
    variants: [{ name: 'one hanging', value: withOne }],
    aim: { says: '≤ 1.1', holds: (_, ratio) => ratio <= 1.1 },
  })
}

function barePosts(url: string): { rate(): Promise<number>; close(): Promise<void> } {
  const outbound = benchOutbound()
  const post = async (): Promise<number> => {
    const id = newId('evt', Date.now())
    const event = { id, type: 'otp.approved', payload: { otp_id: id, status: 'approved' } }
    const body = Buffer.from(JSON.stringify(event))
    const signed = signatureHeaders({ id, body, at: Date.now(), secrets: [SECRET] })
    const headers = { 'content-type': 'application/json', ...signed }
    const { signal } = new AbortController()
    await outbound.request({ method: 'POST', url, body, headers, signal, maxBytes: 2_048 })
    return 1
  }
  return { rate: perSecond(IN_FLIGHT, post), close: outbound.close }
}

/** Events that wait in the queue, consumed as fast as the actor can. */
async function measureDrain(engines: EngineSet, urls: readonly string[]): Promise<number> {
  const actor = await startWebhookActor(engines, urls)
  const published = Array.from({ length: EVENTS }, (_, n) => actor.publishEvent(n % urls.length))
  // In process, a publish resolves when the event is handled.
  if (engines === 'real') await Promise.all(published)
  const begin = performance.now()
  await actor.attach()
  await actor.answered(EVENTS)
  const ms = performance.now() - begin
  await Promise.all(published)
  await actor.close()
  return (EVENTS * 1000) / ms
}

/** A steady rate over a few healthy endpoints and one other; answers the p99 of the healthy ones. */
async function measureSteadyLoad(engines: EngineSet, url: (path: string) => string, another: string): Promise<number> {
  const healthy = Array.from({ length: STEADY.healthy }, (_, n) => n)
  const actor = await startWebhookActor(engines, [...healthy.map(n => url(`/ok/${n}`)), url(another)])
  await actor.attach()
  const stepMs = 1000 / STEADY.perSecond
  const begin = performance.now()
  for (let n = 0; n < STEADY.perSecond * STEADY.seconds; n += 1) {
    const early = begin + n * stepMs - performance.now()
    if (early > 1) await new Promise(resolve => setTimeout(resolve, early))
    actor.publishEvent(n % (STEADY.healthy + 1)).catch(() => {})
  }
  await actor.answered(Math.floor((STEADY.perSecond * STEADY.seconds * STEADY.healthy) / (STEADY.healthy + 1)))
  const all = healthy.flatMap(app => actor.latencies(app)).slice(STEADY.perSecond)
  await actor.close()
  return quantile(all, 0.99)
}
