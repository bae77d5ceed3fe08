// What concerns the whole deployment: its address, its engines, its clocks and its queues.
import { type Api, bodyOf, callServer } from '../api.ts'
import { isLocalOrHttps } from '../profile.ts'
import { createFinding, type Finding } from './finding.ts'

/** As the server itself warns about its clock and the store's. */
const MAX_CLOCK_DIFFERENCE_MS = 2_000
/** A message that waits longer than this in a queue with consumers: they do not keep up. */
const MAX_WAIT_MS = 60_000
/** The same, where the broker does not tell how long a message has waited: RabbitMQ does not. As the alert CountersignQueueGrows. */
const MAX_READY = 1_000

export function checkAddress(url: string): Finding[] {
  const finding = createFinding('address')
  return isLocalOrHttps(url) ? [] : [finding('risky', `${url} is not https: others on the way can read the token.`)]
}

interface Readiness {
  checks?: { name: string; ok: boolean; detail?: string | null }[]
}

/** Checks the process that answers. The others' work shows in the queues. */
export async function checkEngines(url: string): Promise<Finding[]> {
  const finding = createFinding('engines')
  const response = await callServer(`${url}/readyz`)
  const { checks = [] } = (await response.json().catch(() => ({}))) as Readiness
  if (response.ok)
    return [finding('ok', `The process at ${url} is ready: ${checks.map(({ name }) => name).join(', ')}.`)]
  const failed = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name} (${detail ?? 'no detail'})`)
  return [finding('broken', `The process at ${url} is not ready: ${failed.join(', ') || response.status}.`)]
}

export async function checkClock(url: string): Promise<Finding[]> {
  const finding = createFinding('clock')
  const before = Date.now()
  const { headers } = await callServer(`${url}/healthz`)
  const after = Date.now()
  const theirs = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return []
  // The header is cut to whole seconds, and its second may be up to one old.
  const difference = Math.max(theirs - after, before - (theirs + 2_000), 0)
  return difference > MAX_CLOCK_DIFFERENCE_MS
    ? [
        finding(
          'risky',
          `The clock there and the clock here are ${Math.round(difference / 1000)} s apart: one is wrong.`,
        ),
      ]
    : [finding('ok', 'The clock there agrees with the clock here.')]
}

export async function checkQueues(api: Api): Promise<Finding[]> {
  const finding = createFinding('queues')
  const queues = await bodyOf(api.GET('/admin/v1/queues'))
  const findings = queues.flatMap(({ queue, ready, oldest_ms, consumers, owed, owed_oldest_seconds, dead }) => [
    ...(consumers === null ? [finding('broken', `The broker does not tell about the queue ${queue}.`)] : []),
    ...(consumers === 0 ? [finding('broken', `No process takes messages from ${queue}; ${ready} wait there.`)] : []),
    ...(consumers && (oldest_ms ?? 0) > MAX_WAIT_MS
      ? [finding('risky', `A message has waited in ${queue} for ${Math.round((oldest_ms ?? 0) / 1000)} s.`)]
      : []),
    ...(consumers && oldest_ms === null && (ready ?? 0) > MAX_READY
      ? [finding('risky', `${ready} messages wait in ${queue}: start more processes of its role.`)]
      : []),
    ...(consumers && (owed_oldest_seconds ?? 0) * 1_000 > MAX_WAIT_MS
      ? [
          finding(
            'risky',
            `${owed} wait to be sent behind ${queue}, for up to ${owed_oldest_seconds} s: start more processes of its role.`,
          ),
        ]
      : []),
    ...(dead
      ? [finding('broken', `${dead} messages of ${queue} could not be handled: countersign queues dead ${queue}`)]
      : []),
  ])
  return findings.length > 0 ? findings : [finding('ok', `Every one of ${queues.length} queues is served.`)]
}
