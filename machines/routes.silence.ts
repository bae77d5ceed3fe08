// Whether a provider that accepts messages delivers none in a country: a sequential test (CUSUM) over judged slots. In: a route's history,
// the other routes of its app, and where the test stood. Out: where it stands now. Pure.
//
// Each message adds the log of how much likelier its outcome is for a silent provider than for one that does as usual. Below zero the score
// starts anew, so that a good past does not hide a bad present. What a slot adds depends on nothing after it was judged: the result is
// the same whether slots come one by one or all at once. Only the slot whose messages are just growing old enough is looked at before all
// of them are, so that silence is not noticed a slot later.
//
// A high score says that codes of the route are not entered, and not why. Where the codes of other providers are not entered either, it
// is the app's own form. Where none of the others had messages, it cannot be told yet: the provider is called silent, and how the others do
// with some of its messages decides (see routes.order.ts).
import { HOUR_MS } from '../infra/time.ts'
import { APPROVED_BY_THEN, isEvidence, judgeDelayMs, judgedUntil } from './routes.judged.ts'
import { type RoutesOfApp, triedIn } from './routes.others.ts'
import { ROUTE_SLOT_MS, type RouteHistory, type RouteSlot, type Silence } from './routes.ts'

/** A silent provider converts at this part of its usual, at most. The smaller, the longer a code that is entered all the same delays the
 *  alarm; the larger, the more often an outage of half the messages is taken for silence. */
const SILENT_PART = 0.07
/** Silent above this score. A higher score is rarer by chance, and later: see docs/routes-simulation.md. */
export const SILENT_SCORE = 20
/** A silent provider has recovered once its score has fallen by this much: three entered codes, with few misses among them. */
const RECOVERED_FALL = 6.2

/** Anyone can send with a publishable key. So of the messages of devices whose codes are not entered, an hour counts no more than so many
 *  times its usual messages, evenly, and one: a stranger is no faster than the app's own users are, whose codes are entered. */
const DEVICES_MAX_MESSAGES = 1.5

/** A slot of so many messages, of which at most this part was entered, is looked at every few seconds while it grows old. */
const SUSPECT_MESSAGES = 10
const SUSPECT_PART = 0.2
const LOOK_SOON_MS = 2_000

const NOT_JUDGED: Silence = { score: 0, judged_until: 0, since: null }

export function judge(history: RouteHistory, app: RoutesOfApp, previous: Silence | null, now: number): Silence {
  const until = judgedUntil(history, now)
  const withSlot = createTest(history, app)
  let silence = previous ?? NOT_JUDGED
  for (const slot of history.slots)
    if (slot.start >= silence.judged_until && slot.start < until) silence = withSlot(silence, slot)
  silence = { ...silence, judged_until: Math.max(silence.judged_until, until) }
  const growing = slotAt(history, silence.judged_until)
  if (silence.others !== undefined || !growing) return silence
  // Entered codes count as those of the oldest messages, so that no message is missed that was not.
  const part = (now - judgeDelayMs(history) - growing.start) / ROUTE_SLOT_MS
  const old = { ...growing, messages: Math.floor(Math.max(0, part) * growing.messages) }
  const early = withSlot(silence, old)
  return early.others === undefined ? silence : early
}

/** Above zero where silence explains the messages better than the expected conversion. */
export const evidenceOfSilence = (tried: number, missed: number, expected: number): number =>
  tried * Math.log(SILENT_PART) + missed * Math.log((1 - SILENT_PART * expected) / (1 - expected))

/** When the test can say more than now; null when all messages are judged. */
export function judgesNextAt(history: RouteHistory, silence: Silence, now: number): number | null {
  const last = history.slots.at(-1)
  if (!last || last.start < silence.judged_until) return null
  const growing = slotAt(history, silence.judged_until)
  const isSuspect =
    silence.others === undefined &&
    growing !== undefined &&
    growing.messages >= SUSPECT_MESSAGES &&
    triedIn(growing) <= SUSPECT_PART * growing.messages
  return now + (isSuspect ? LOOK_SOON_MS : ROUTE_SLOT_MS)
}

const slotAt = ({ slots }: RouteHistory, at: number): RouteSlot | undefined => slots.find(({ start }) => start === at)

/** What a slot makes of the test. `judged_until` is left to the caller. */
function createTest(history: RouteHistory, app: RoutesOfApp): (before: Silence, slot: RouteSlot) => Silence {
  const usual = app.usualOf(history)
  return (before, slot) => {
    if (slot.messages <= 0 || !isEvidence(slot, history, app.outages)) return before
    const { score, judged_until, since, others } = before
    // While a provider is silent, its usual is that of before.
    const own = usual.conversionAt(since ?? slot.start)
    // What it did before is forgotten, so nothing can show that it has recovered.
    if (own === null) return since === null ? before : { ...NOT_JUDGED, judged_until }
    const judgedAt = slot.start + judgeDelayMs(history)
    const expected = own * APPROVED_BY_THEN * app.conditionFor(history, judgedAt)
    const sum = score + evidenceOfSilence(triedIn(slot), missesIn(slot), expected)
    if (others === undefined) return unalarmed(before, slot, Math.max(0, sum), judgedAt)
    if (sum <= SILENT_SCORE - RECOVERED_FALL) return { ...NOT_JUDGED, judged_until }
    return alarmed({ ...before, score: Math.min(SILENT_SCORE, sum) }, slot, judgedAt)
  }

  function unalarmed({ judged_until, score, from }: Silence, slot: RouteSlot, sum: number, judgedAt: number): Silence {
    if (sum === 0) return { ...NOT_JUDGED, judged_until }
    const rising: Silence = {
      score: Math.min(SILENT_SCORE, sum),
      judged_until,
      since: null,
      from: score === 0 ? slot.start : (from ?? slot.start),
    }
    if (sum < SILENT_SCORE || app.isHeardByServers(history, judgedAt)) return rising
    return alarmed(rising, slot, judgedAt)
  }

  /** The score is high: whether it is the provider depends on the others. */
  function alarmed(before: Silence, slot: RouteSlot, judgedAt: number): Silence {
    if (before.others === 'well') return before
    const from = before.from ?? slot.start
    const others = app.othersOf(history, from, judgedAt)
    if (others === 'well') return { ...before, others, since: before.since ?? slot.start }
    // They are compared anew from here on, so that they are soon found to do well again.
    if (others === 'silent') return { ...before, others, from: slot.start }
    if (before.others === 'silent') return before
    return { ...before, others, since: before.since ?? slot.start }
  }

  function missesIn(slot: RouteSlot): number {
    const misses = slot.messages - triedIn(slot)
    if (history.kind === 'server') return misses
    const hour = Math.floor(slot.start / HOUR_MS) * HOUR_MS
    const passed = (slot.start + ROUTE_SLOT_MS - hour) / HOUR_MS
    let left = 1 + DEVICES_MAX_MESSAGES * usual.messagesAt(slot.start) * passed
    for (const one of history.slots)
      if (one.start >= hour && one.start < slot.start) left -= one.messages - triedIn(one)
    return Math.min(misses, Math.max(0, left))
  }
}
