// Offers requests at a fixed rate and does not wait for answers before it offers more, as many independent callers do. In: a plan
// (open-loop.ts) as the one argument. Out: the figures, printed as JSON. A request takes an idle connection, or opens one.
import process from 'node:process'
import { countAnswers } from './answers.ts'
import { type Connection, connection, requestText } from './connection.ts'
import type { OpenLoopFigures, OpenLoopPlan } from './open-loop.ts'
import { recipients } from './recipients.ts'

const plan: OpenLoopPlan = JSON.parse(process.argv[2] ?? '')
const base = new URL(plan.url)
const newRecipient = recipients()

const TICK_MS = 5
/** Below the limits of open files and of ports. A request beyond it is counted as not offered. */
const MAX_CONNECTIONS = 12_000

const idle: Connection[] = []
const answers = countAnswers()
const pending = new Set<Promise<void>>()
let connections = 0
let offered = 0
let lastAccepted = ''

function idleOrNewConnection(): Connection | undefined {
  for (let free = idle.pop(); free; free = idle.pop()) {
    if (free.isOpen()) return free
    // The system closes connections that are idle for some seconds.
    connections -= 1
  }
  if (connections >= MAX_CONNECTIONS) return undefined
  connections += 1
  return connection(base)
}

function drop(lane: Connection): void {
  connections -= 1
  lane.close()
}

async function offer(): Promise<void> {
  const lane = idleOrNewConnection()
  if (!lane) return
  offered += 1
  const body = JSON.stringify({ recipient: newRecipient() })
  const asked = performance.now()
  // A caller that hangs up after this time is the reason why the connection is closed, not only the answer ignored.
  const giveUp = setTimeout(() => lane.close(), plan.patienceMs)
  try {
    const answer = await lane.ask(requestText(base, { method: 'POST', path: '/api/v1/otp/send', key: plan.key, body }))
    if (answer.status === 200) lastAccepted = answer.body
    answers.add(answer.status, performance.now() - asked)
    idle.push(lane)
  } catch {
    answers.addUnanswered()
    drop(lane)
  } finally {
    clearTimeout(giveUp)
  }
}

async function offerAll(): Promise<void> {
  const begin = performance.now()
  let due = 0
  while (performance.now() - begin < plan.measureMs) {
    const target = ((performance.now() - begin) / 1_000) * plan.perSecond
    for (; due < target; due += 1) {
      const one = offer()
      pending.add(one)
      void one.then(() => pending.delete(one))
    }
    await new Promise(resolve => setTimeout(resolve, TICK_MS))
  }
}

/** Work that is left would slow the next round. A process under load may refuse the question. */
async function waitForDelivery(otp_id: string): Promise<void> {
  const request = requestText(base, { method: 'GET', path: `/api/v1/otp/${otp_id}`, key: plan.key })
  const lane = connection(base)
  for (;;) {
    const { status, body } = await lane.ask(request)
    if (status === 200 && JSON.parse(body).deliveries[0].status === 'delivered') break
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  lane.close()
}

await offerAll()
answers.end(plan.measureMs)
await Promise.all(pending)
for (const lane of idle) lane.close()
if (lastAccepted !== '') await waitForDelivery(JSON.parse(lastAccepted).otp_id)
const figures: OpenLoopFigures = { ...answers.figures(), offeredPerSecond: (offered * 1_000) / plan.measureMs }
console.log(JSON.stringify(figures))
