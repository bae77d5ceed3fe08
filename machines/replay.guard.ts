// The fraud guard's memory in a replay of past sends. In: messages and approvals, in order. Out: the evidence about a number, as the live guard
// has it (services/otp/fraud), from the same counts. Pure but for the memory itself. Numbers are in the clear here: nothing of this is stored.
import { HOUR_MS } from '../infra/time.ts'
import { devicesPerMinute } from './fraud.allowance.ts'
import { ALL_NUMBERS, blockOf, countryName, hundredOf, paceRules, rangeOf, VERIFIED_RULES } from './fraud.groups.ts'
import { addToHistory, EMPTY_HISTORY, type NumberHistory } from './fraud.number.ts'
import { addToBlock, type Block, type BlockNumber, EMPTY_BLOCK } from './fraud.number-block.ts'
import { addToTally, EMPTY_TALLY, type Period, type Tally, type TallyEntry } from './fraud.tally.ts'
import { type Evidence, type Judgement, judge, type NamedTally } from './fraud.ts'
import type { KeyKind } from './otp.ts'
import type { Limit } from './quotas.ts'
import type { AppSettings } from './settings.ts'
import { allowsOneMore, countOne, type Windows } from './windows.ts'

export interface GuardedNumber {
  kind: KeyKind
  number: string
  country: string | null
}

/** What was counted on past days, by kind of key and the name of the group. */
export type PastDays = (kind: KeyKind, name: string) => readonly Period[]

export interface GuardMemory {
  judge(number: GuardedNumber, message: { isFirst: boolean; ignoresHistory: boolean }, at: number): Judgement
  /** The counters that a message which is only slowed down counts in. */
  paces(number: GuardedNumber, judgement: Judgement): Limit[]
  sent(number: GuardedNumber, isStart: boolean, at: number): void
  verified(number: GuardedNumber, sentAt: number, at: number): void
}

/** For settings whose guard is on: one that only records decides nothing. */
export function createGuardMemory({ limits }: Pick<AppSettings, 'limits'>, pastDays: PastDays): GuardMemory {
  const tallies = new Map<string, Tally>()
  const blocks = new Map<string, Block>()
  const histories = new Map<string, NumberHistory>()
  const verifiedByDevices = new Map<string, Windows>()
  const verifiedByServers = new Map<string, number>()
  const perMinute = devicesPerMinute(limits.app_publishable)

  const tallyOf = (kind: KeyKind, name: string): Tally =>
    tallies.get(`${kind}:${name}`) ?? { ...EMPTY_TALLY, days: [...pastDays(kind, name)] }
  const named = (kind: KeyKind, name: string): NamedTally => ({ name, tally: tallyOf(kind, name) })

  function addToTallies(of: GuardedNumber, entry: TallyEntry, at: number): void {
    const names = [countryName(of.country), rangeOf(of.number), ...(of.kind === 'publishable' ? [ALL_NUMBERS] : [])]
    for (const name of names) tallies.set(`${of.kind}:${name}`, addToTally(tallyOf(of.kind, name), [entry], at))
  }

  function addNumber({ kind, number }: GuardedNumber, sentAt: number, verified: boolean, at: number): void {
    const key = `${kind}:${blockOf(number)}`
    const entry: BlockNumber = { tag: number, hundred: hundredOf(number), at: sentAt, verified }
    blocks.set(key, addToBlock(blocks.get(key) ?? EMPTY_BLOCK, [entry], at))
  }

  function addToNumber({ kind, number }: GuardedNumber, what: 'start' | 'message' | 'approval', at: number): void {
    if (kind === 'publishable')
      histories.set(number, addToHistory(histories.get(number) ?? EMPTY_HISTORY, [{ at, what }], at))
  }

  /** A number that is verified again and again counts once an hour, as in the live guard. */
  function isFirstThisHour({ kind, number }: GuardedNumber, sentAt: number, at: number): boolean {
    if (kind === 'server') {
      const isFirst = sentAt - (verifiedByServers.get(number) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS
      if (isFirst) verifiedByServers.set(number, sentAt)
      return isFirst
    }
    const windows = verifiedByDevices.get(number) ?? {}
    verifiedByDevices.set(number, windows)
    if (!allowsOneMore(windows, VERIFIED_RULES, at)) return false
    countOne(windows, VERIFIED_RULES, at)
    return true
  }

  return {
    judge(of, { isFirst, ignoresHistory }, at) {
      const { kind, number } = of
      const evidence: Evidence = {
        kind,
        perMinute,
        app: kind === 'publishable' ? named(kind, ALL_NUMBERS) : null,
        country: named(kind, countryName(of.country)),
        range: named(kind, rangeOf(number)),
        block: blocks.get(`${kind}:${blockOf(number)}`) ?? EMPTY_BLOCK,
        number: { tag: number, hundred: hundredOf(number) },
        history: kind === 'server' || ignoresHistory ? null : (histories.get(number) ?? EMPTY_HISTORY),
        backsOff: isFirst,
      }
      return judge(evidence, at)
    },
    paces: (of, { reasons }) => {
      const { kind, number } = of
      const names = {
        app: ALL_NUMBERS,
        country: countryName(of.country),
        range: rangeOf(number),
        block: blockOf(number),
        hundred: hundredOf(number),
        number,
      }
      return reasons.map(reason => ({
        key: `pace:${kind}:${reason.scope}:${names[reason.scope]}`,
        rules: paceRules(reason),
      }))
    },
    sent(of, isStart, at) {
      addToTallies(of, { at, sent: 1, verified: 0 }, at)
      addNumber(of, at, false, at)
      addToNumber(of, isStart ? 'start' : 'message', at)
    },
    verified(of, sentAt, at) {
      if (isFirstThisHour(of, sentAt, at)) addToTallies(of, { at: sentAt, sent: 0, verified: 1 }, at)
      addNumber(of, sentAt, true, at)
      addToNumber(of, 'approval', at)
    },
  }
}
