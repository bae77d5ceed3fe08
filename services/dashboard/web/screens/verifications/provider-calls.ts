// What providers answered, in words. In: entries of a verification's timeline. Out: parts of sentences, such as "the provider main answered
// 503 after 812 ms". Only what the entries say is said.
import { groupBy } from '../../../../../machines/group-by.ts'
import type { Schemas } from '../../api/schema.ts'
import { shortDurationOfMs } from '../../data/duration.ts'

export type TimelineEntry = Schemas['TimelineEntry']

/** A call without a result that is younger than this is most likely still under way. */
const UNDER_WAY_MS = 60_000

export const isProviderCall = ({ happened }: TimelineEntry): boolean => happened === 'provider.called'

/** The message may have gone out, and no answer says so. */
export const mayHaveBeenSent = (call: TimelineEntry): boolean =>
  isProviderCall(call) && (call.result === 'unknown' || (call.result ?? null) === null)

/** `, saying “Too many requests” (code 20429)`. Where no vendor answered, the words are Countersign's own. */
export function vendorWords({ http_status, vendor_code, vendor_text }: TimelineEntry): string {
  const text = vendor_text ? trimmed(vendor_text) : null
  if (text && vendor_code) return `, saying “${text}” (code ${vendor_code})`
  if (vendor_code) return `, with the vendor’s code “${vendor_code}”`
  if (!text) return ''
  return (http_status ?? null) === null ? `: ${text}` : `, saying “${text}”`
}

/** A full stop of the vendor's would stand in the middle of our sentence. */
const trimmed = (text: string): string => text.trim().replace(/\.+$/, '')

/** What one call, or several with the same outcome, came to: "answered 503 after 812 ms", "answered 503 3 times". */
export function callOutcome(call: TimelineEntry, times: number, now: number): string {
  const { result, http_status, ms } = call
  const status = http_status ?? null
  const often = times > 1 ? ` ${timesText(times)}` : typeof ms === 'number' ? ` after ${shortDurationOfMs(ms)}` : ''
  const words = vendorWords(call)
  switch (result) {
    case 'accepted':
      return `took it${often}`
    case 'refused':
      return status === null ? `refused the recipient${often}${words}` : `answered ${status}${often}${words}`
    case 'failed':
      if (status === null) return `failed${often}${words}`
      return status >= 400
        ? `answered ${status}${often}${words}`
        : `did not take it, with HTTP ${status}${often}${words}`
    case 'unknown':
      return `gave no clear answer${status === null ? '' : `, HTTP ${status},`}${often}${words}`
    default:
      if (now - Date.parse(call.at) < UNDER_WAY_MS) return 'is being called'
      return `was called${times > 1 ? ` ${timesText(times)}` : ''}, and how that ended is not recorded`
  }
}

const TIMES = ['never', 'once', 'twice', 'three times', 'four times', 'five times', 'six times']

const timesText = (times: number): string => TIMES[times] ?? `${times} times`

/** "the provider main answered 503 3 times", "the provider backup took it after 90 ms": one part for each provider and outcome, in the
 *  order of the first call. */
export function callClauses(calls: readonly TimelineEntry[], now: number): string[] {
  const callFacts = (call: TimelineEntry): string =>
    JSON.stringify([call.provider, call.result, call.http_status, call.vendor_code, call.vendor_text])
  return [...groupBy(calls, callFacts).values()].flatMap(group => {
    const [first] = group
    return first ? [`the provider ${first.provider} ${callOutcome(first, group.length, now)}`] : []
  })
}

/** When the call ended; when it began where its length is not recorded. */
export const endOfCall = ({ at, ms }: TimelineEntry): number => Date.parse(at) + (ms ?? 0)
