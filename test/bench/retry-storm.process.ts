// Callers that make the next send as soon as the last one is answered, accepted or refused. In: a plan (retry-storm.ts)
// as the one argument. Out: "begun" once all connections are open, then the figures, printed as JSON.
import process from 'node:process'
import { countAnswers } from './answers.ts'
import { type Connection, connection, requestText } from './connection.ts'
import { recipients } from './recipients.ts'
import type { RetryStormFigures, RetryStormPlan } from './retry-storm.ts'

const plan: RetryStormPlan = JSON.parse(process.argv[2] ?? '')
const base = new URL(plan.url)
const newRecipient = recipients()

/** The system has accepted a connection when it answers on it. */
async function openConnection(): Promise<Connection> {
  const lane = connection(base)
  await lane.ask(requestText(base, { method: 'GET', path: '/healthz', key: '' }))
  return lane
}

const lanes = await Promise.all(Array.from({ length: plan.callers }, openConnection))
console.log('begun')
const answers = countAnswers()
const begin = performance.now()
const stormEnd = begin + plan.stormMs
const countedFrom = stormEnd + plan.recoverMs
const end = countedFrom + plan.afterwardsMs
let acceptedAfterwards = 0

const sendText = (): string =>
  requestText(base, {
    method: 'POST',
    path: '/api/v1/otp/send',
    key: plan.key,
    body: JSON.stringify({ recipient: newRecipient() }),
  })

async function play(kept: Connection, at: number): Promise<void> {
  const until = at < plan.callersAfterwards ? end : stormEnd
  let lane = kept
  for (let asked = performance.now(); asked < until; asked = performance.now()) {
    const giveUp = setTimeout(() => lane.close(), plan.patienceMs)
    try {
      const { status } = await lane.ask(sendText())
      const now = performance.now()
      if (asked < stormEnd) answers.add(status, now - asked)
      else if (status === 200 && now >= countedFrom && now < end) acceptedAfterwards += 1
    } catch {
      answers.addUnanswered()
      lane = connection(base)
    }
    clearTimeout(giveUp)
  }
  lane.close()
}

setTimeout(() => answers.end(plan.stormMs), plan.stormMs)
await Promise.all(lanes.map(play))
const figures: RetryStormFigures = {
  ...answers.figures(),
  acceptedPerSecondAfterwards: (acceptedAfterwards * 1_000) / plan.afterwardsMs,
}
console.log(JSON.stringify(figures))
