// Takes from several limits, from all or from none. In: quotas; if several are full, the first one refuses. Out: a refusal, or a way to
// undo. Quotas of one counter are taken in one update.
import type { LimitUse, Refusal } from '../../machines/calls.ts'
import type { Quota } from '../../machines/quotas.ts'
import { nearestOf } from '../../machines/windows.ts'
import type { TakeResult } from './limits/counters.ts'
import type { Limits } from './limits/limits.ts'
import { limitRefusal } from './refusals.ts'

export type Reservation = Granted | Refused

export interface Granted extends Taken {
  refusal?: undefined
}

export interface Refused extends Taken {
  refusal: Refusal
}

interface Taken {
  /** Gives back what was taken. After a refusal there is nothing to give back. */
  undo(): Promise<void>
  /** The use of the limit nearest to its end among those that were taken from. */
  use?: LimitUse
  /** When a limit that tells it was counted before. */
  last_at?: number
  /** The guard lets the message pass, and it looks like pumping all the same. */
  suspected?: true
  /** The call brought a challenge solved at the highest difficulty. Told of a refusal too. */
  solvedHardest?: boolean
  /** It holds for the document it was made for only: after a lost race it is asked for again. */
  forOneTry?: true
}

export const NO_RESERVATION: Granted = { undo: async () => {} }

export async function reserve(
  limits: Pick<Limits, 'peek' | 'peekAgain' | 'take' | 'giveBack' | 'wasFull'>,
  quotas: readonly Quota[],
): Promise<Reservation> {
  const firstFull = async (): Promise<Refusal | undefined> => refusalIn(quotas, await askAll(quotas, limits.peek))

  // Calls that one full limit refuses must not take from the other limits, not even until they give back: that would refuse others.
  // If a limit known to be full is still full, all limits are asked, so that the first full one refuses.
  const wereFull = quotas.filter(limits.wasFull)
  if (wereFull.length > 0 && refusalIn(wereFull, await askAll(wereFull, limits.peekAgain))) {
    const full = await firstFull()
    if (full) return { ...NO_RESERVATION, refusal: full }
  }

  const joined = joinByCounter(quotas)
  const answers = await askAll(joined, limits.take)
  const undo = async (): Promise<void> => {
    await Promise.all(answers.map((taken, nth) => taken.granted && limits.giveBack(joined[nth] as Quota, taken.at)))
  }
  const refusal = refusalIn(joined, answers)
  if (!refusal) return { undo, ...withUse(joined.map((quota, at) => useOf(quota, answers[at]))), ...lastIn(answers) }
  await undo()
  // A counter that refuses does not say which of its quotas is full.
  return { ...NO_RESERVATION, refusal: (await firstFull()) ?? refusal }
}

const askAll = (quotas: readonly Quota[], how: (quota: Quota) => Promise<TakeResult>): Promise<TakeResult[]> =>
  Promise.all(quotas.map(how))

/** One quota per counter, with the rules of all its quotas. */
function joinByCounter(quotas: readonly Quota[]): Quota[] {
  const joined = new Map<string, Quota>()
  for (const quota of quotas) {
    const same = joined.get(quota.key)
    joined.set(quota.key, same ? { ...same, rules: [...same.rules, ...quota.rules] } : quota)
  }
  return [...joined.values()]
}

/** Makes a second reservation after the first. If the second is refused or throws, the first is given back. What only the second one says
 *  is kept. */
export async function chainReservations<Second extends Reservation>(
  first: Reservation,
  second: () => Second | Promise<Second>,
): Promise<Second | Refused> {
  if (first.refusal) return first
  let more: Second
  try {
    more = await second()
  } catch (error) {
    await first.undo().catch(() => {})
    throw error
  }
  const solved = first.solvedHardest ? { solvedHardest: true } : {}
  if (more.refusal) {
    await first.undo()
    return { ...more, ...solved }
  }
  return {
    ...more,
    undo: async () => void (await Promise.all([first.undo(), more.undo()])),
    ...withUse([first.use, more.use]),
    ...(first.suspected && { suspected: true }),
    ...solved,
  }
}

const useOf = ({ scope }: Quota, taken: TakeResult | undefined): LimitUse | undefined =>
  taken?.granted && taken.use ? { scope, ...taken.use } : undefined

function lastIn(answers: readonly TakeResult[]): Pick<Reservation, 'last_at'> {
  for (const taken of answers) if (taken.granted && taken.last_at !== undefined) return { last_at: taken.last_at }
  return {}
}

function withUse(uses: readonly (LimitUse | undefined)[]): { use?: LimitUse } {
  const use = nearestOf(uses)
  return use ? { use } : {}
}

/** `answers`: one for each quota. */
function refusalIn(quotas: readonly Quota[], answers: readonly TakeResult[]): Refusal | undefined {
  for (const [at, { scope }] of quotas.entries()) {
    const taken = answers[at]
    if (taken?.granted === false) return limitRefusal(scope, taken.retry_after_ms, taken.use)
  }
  return undefined
}
