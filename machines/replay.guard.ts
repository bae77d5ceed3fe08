// The fraud guard's memory in a replay of past sends. In: messages and approvals, in order. Out: the evidence about a
// number or a mailbox, as the live guard has it (services/otp/fraud), from the same counts. Pure but for the memory
// itself. Both are in the clear here: nothing of this is stored.
import { HOUR_MS } from '../infra/time.ts'
import { devicesPerMinute } from './fraud.allowance.ts'
import { type GuardedRecipient, groupNamesOf, hundredOf, isMailbox, paceRules, VERIFIED_RULES } from './fraud.groups.ts'
import { addToHistory, EMPTY_HISTORY, type NumberHistory } from './fraud.number.ts'
import { addToBlock, type Block, type BlockNumber, EMPTY_BLOCK } from './fraud.number-block.ts'
import { addToTally, EMPTY_TALLY, type Period, type Tally, type TallyEntry } from './fraud.tally.ts'
import { type Evidence, type Judgement, judge, type NamedTally } from './fraud.ts'
import type { KeyKind } from './otp.ts'
import type { Limit } from './quotas.ts'
import type { AppSettings } from './settings.ts'
import { allowsOneMore, countOne, type Windows } from './windows.ts'

export interface WatchedRecipient extends GuardedRecipient {
  kind: KeyKind
}

/** What was counted on past days, by kind of key and the name of the group. */
export type PastDays = (kind: KeyKind, name: string) => readonly Period[]

export interface GuardMemory {
  judge(of: WatchedRecipient, message: { isFirst: boolean; ignoresHistory: boolean }, at: number): Judgement
  /** The counters that a message which is only slowed down counts in. */
  paces(of: WatchedRecipient, judgement: Judgement): Limit[]
  sent(of: WatchedRecipient, isStart: boolean, at: number): void
  verified(of: WatchedRecipient, sentAt: number, at: number): void
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

  function addToTallies(of: WatchedRecipient, entry: TallyEntry, at: number): void {
    const { all, country, range } = groupNamesOf(of)
    const names = [country, ...(range === null ? [] : [range]), ...(of.kind === 'publishable' ? [all] : [])]
    for (const name of names) tallies.set(`${of.kind}:${name}`, addToTally(tallyOf(of.kind, name), [entry], at))
  }

  function addToBlocks(of: WatchedRecipient, sentAt: number, verified: boolean, at: number): void {
    const { block } = groupNamesOf(of)
    if (block === null) return
    const key = `${of.kind}:${block}`
    const entry: BlockNumber = { ...tagsOf(of), at: sentAt, verified }
    blocks.set(key, addToBlock(blocks.get(key) ?? EMPTY_BLOCK, [entry], at))
  }

  function addToHistories({ kind, value }: WatchedRecipient, what: 'start' | 'message' | 'approval', at: number): void {
    if (kind === 'publishable')
      histories.set(value, addToHistory(histories.get(value) ?? EMPTY_HISTORY, [{ at, what }], at))
  }

  /** Who is verified again and again counts once an hour, as in the live guard. */
  function isFirstThisHour({ kind, value }: WatchedRecipient, sentAt: number, at: number): boolean {
    if (kind === 'server') {
      const isFirst = sentAt - (verifiedByServers.get(value) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS
      if (isFirst) verifiedByServers.set(value, sentAt)
      return isFirst
    }
    const windows = verifiedByDevices.get(value) ?? {}
    verifiedByDevices.set(value, windows)
    if (!allowsOneMore(windows, VERIFIED_RULES, at)) return false
    countOne(windows, VERIFIED_RULES, at)
    return true
  }

  return {
    judge(of, { isFirst, ignoresHistory }, at) {
      const { kind, value } = of
      const { all, country, range, block } = groupNamesOf(of)
      const evidence: Evidence = {
        kind,
        perMinute,
        app: kind === 'publishable' ? named(kind, all) : null,
        country: named(kind, country),
        range: range === null ? null : named(kind, range),
        isMailbox: isMailbox(value),
        block: (block === null ? undefined : blocks.get(`${kind}:${block}`)) ?? EMPTY_BLOCK,
        number: tagsOf(of),
        history: kind === 'server' || ignoresHistory ? null : (histories.get(value) ?? EMPTY_HISTORY),
        backsOff: isFirst,
      }
      return judge(evidence, at)
    },
    paces: (of, { reasons }) => {
      const { all, ...groups } = groupNamesOf(of)
      const names = { ...groups, app: all, hundred: hundredOf(of.value), number: of.value }
      return reasons.map(reason => ({
        key: `pace:${of.kind}:${reason.scope}:${names[reason.scope]}`,
        rules: paceRules(reason),
      }))
    },
    sent(of, isStart, at) {
      addToTallies(of, { at, sent: 1, verified: 0 }, at)
      addToBlocks(of, at, false, at)
      addToHistories(of, isStart ? 'start' : 'message', at)
    },
    verified(of, sentAt, at) {
      if (isFirstThisHour(of, sentAt, at)) addToTallies(of, { at: sentAt, sent: 0, verified: 1 }, at)
      addToBlocks(of, sentAt, true, at)
      addToHistories(of, 'approval', at)
    },
  }
}

const tagsOf = ({ value }: GuardedRecipient) => ({ tag: value, hundred: hundredOf(value) })
