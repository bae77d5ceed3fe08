// Generates load. In: a plan (load.ts) as the one argument. Out: the figures, printed as JSON.
import process from 'node:process'
import { codesOf } from './codes.ts'
import { type Connection, connection, requestText } from './connection.ts'
import type { Figures, LoadPlan } from './load.ts'
import { quantile } from './measure.ts'
import { recipients } from './recipients.ts'

const plan: LoadPlan = JSON.parse(process.argv[2] ?? '')
const base = new URL(plan.url)
const newRecipient = recipients()

/** Undefined when no request is left. */
type Next = () => string | undefined

interface Round {
  answers: string[]
  times: number[]
  ms: number
}

const post = (path: string, body: unknown, headers = ''): string =>
  requestText(base, { method: 'POST', path, key: plan.key, body: JSON.stringify(body), headers })

/** Begins anywhere, so that the addresses of one round are new to the next. */
let sends = Math.floor(Math.random() * 2 ** 24)
function send(): string {
  const recipient = newRecipient()
  if (!plan.full) return post('/api/v1/otp/send', { recipient })
  sends += 1
  const client_ip = `93.${(sends >> 16) & 255}.${(sends >> 8) & 255}.${sends & 255}`
  return post('/api/v1/otp/send', { recipient, client_ip }, `idempotency-key: ${recipient}\r\n`)
}

async function ask(lane: Connection, request: string): Promise<string> {
  const { status, body } = await lane.ask(request)
  if (status === 503 && plan.repeatRefused) return ask(lane, request)
  if (status !== 200) throw new Error(`answered ${status}: ${body}`)
  return body
}

/** Keeps one request under way on every connection. */
async function runLoad(next: Next, warmUpMs: number, measureMs: number): Promise<Round> {
  const begin = performance.now() + warmUpMs
  const end = begin + measureMs
  const [answers, times]: [string[], number[]] = [[], []]
  const play = async (): Promise<void> => {
    const lane = connection(base)
    for (;;) {
      if (plan.pauseMs) await pause(plan.pauseMs)
      const asked = performance.now()
      if (asked >= end) break
      const request = next()
      if (request === undefined) break
      const answer = await ask(lane, request)
      const now = performance.now()
      if (now < begin || now >= end) continue
      times.push(now - asked)
      answers.push(answer)
    }
    lane.close()
  }
  await Promise.all(Array.from({ length: plan.connections }, play))
  return { answers, times, ms: Math.min(performance.now(), end) - begin }
}

/** Exponentially distributed. */
const pause = (meanMs: number): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, -meanMs * Math.log(1 - Math.random())))

const limitTo = (next: Next, maxRequests: number): Next => {
  let left = maxRequests
  return () => (left-- > 0 ? next() : undefined)
}

/** Verifies right codes, each once. The sends are delivered before it begins. */
async function createVerifyRequests({ verifications, env }: NonNullable<LoadPlan['verify']>): Promise<Next> {
  const { answers } = await runLoad(limitTo(send, verifications), 0, Number.POSITIVE_INFINITY)
  const otp_ids = answers.map((answer): string => JSON.parse(answer).otp_id)
  await waitForDelivery(otp_ids.at(-1) ?? '')
  const codes = await codesOf(env, otp_ids)
  return () => {
    const next = codes.pop()
    return next && post('/api/v1/otp/verify', next)
  }
}

async function waitForDelivery(otp_id: string): Promise<void> {
  const lane = connection(base)
  const request = requestText(base, { method: 'GET', path: `/api/v1/otp/${otp_id}`, key: plan.key })
  while (JSON.parse(await ask(lane, request)).deliveries[0].status !== 'delivered')
    await new Promise(resolve => setTimeout(resolve, 20))
  lane.close()
}

const resumed = (): Promise<void> =>
  new Promise(resolve => {
    // A process that only waits for a signal would end.
    const alive = setInterval(() => {}, 1_000)
    process.once('SIGUSR2', () => {
      clearInterval(alive)
      resolve()
    })
    console.log('paused')
  })

const next = plan.verify ? await createVerifyRequests(plan.verify) : send
if (plan.paused) await resumed()
const { answers, times, ms } = await runLoad(
  plan.maxRequests ? limitTo(next, plan.maxRequests) : next,
  plan.warmUpMs,
  plan.measureMs,
)
const ended = performance.now()
if (plan.untilDelivered) await waitForDelivery(JSON.parse(answers.at(-1) ?? '').otp_id)
const deliveredAfterMs = plan.untilDelivered ? performance.now() - ended : 0
const figures: Figures = {
  perSecond: (times.length * 1_000) / ms,
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
  deliveredAfterMs,
}
console.log(JSON.stringify(figures))
