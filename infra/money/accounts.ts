// Balances that are never overdrawn, whoever spends from however many processes. In: entries. Out: entered, known already, or too
// little left. Entries of one company that wait together are one conditional write of its document, so that a busy company costs a
// write per batch and not per send.
import type { Clock } from '../clock.ts'
import { gatherByKey } from '../gather.ts'
import type { Logger } from '../log.ts'
import { partitionOf } from '../otps/partition.ts'
import type { CountersignStore } from '../store/collections.ts'
import type { Company } from '../tenancy/documents.ts'
import { Unavailable } from '../unavailable.ts'
import { type Account, type Entry, type LedgerDoc, type LedgerItem, ledgerId } from './documents.ts'

/** `short`: the balance is too small for it, or so large that nobody could count on. */
export type Entered = 'entered' | 'known' | 'short'

export interface Accounts {
  enter(company_id: string, entry: Entry): Promise<Entered>
  balance(company_id: string): Promise<number>
  /** Whether an entry of this name was entered. */
  knows(company_id: string, entry: string): Promise<boolean>
  /** Resolves when all that was entered for a company is in the ledger. */
  flush(company_id: string): Promise<void>
  /** Resolves when what was entered here is in the ledger, or waits with its company for whoever enters next. */
  settled(): Promise<void>
}

export interface AccountParts {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  log: Logger
}

const TOGETHER = { most: 1_000, parallel: 1 }
/** Every lost race is a batch of another process that was entered. */
const MOST_RACES = 100
/** Past any call's patience: a hold without a delivery by then never gets one. */
export const CHECK_AFTER_MS = 60_000

interface Asked {
  company_id: string
  entry: Entry
}

export function accounting({ store, clock, log }: AccountParts): Accounts {
  const [companies, ledger] = [store.docs('companies'), store.docs('ledger')]
  const moving = new Set<Promise<void>>()

  async function accountOf(company_id: string): Promise<Company> {
    const company = (await companies.get([company_id])).get(company_id)
    if (!company) throw new Error(`there is no company ${company_id}`)
    return company
  }

  /** The account first: what leaves it for the ledger between the two looks is then seen twice, not never. */
  async function knownOf(account: Account, entries: readonly Entry[]): Promise<Set<string>> {
    // A hold is for a delivery that has just been thought of: nobody can have entered it.
    const names = entries.filter(({ kind }) => kind !== 'hold').map(({ entry }) => entry)
    if (names.length === 0) return new Set()
    const found = await ledger.find({ entry: { $in: names } }, { sort: { entry: 1 }, limit: names.length })
    return new Set([...(account.waiting ?? []), ...found].map(({ entry }) => entry))
  }

  async function enterAll(asked: Asked[]): Promise<Entered[]> {
    const { company_id } = asked[0] as Asked
    const entries = asked.map(({ entry }) => entry)
    for (let races = 0; races < MOST_RACES; races += 1) {
      const account = await accountOf(company_id)
      const { items, answers } = book(account, entries, await knownOf(account, entries), clock.now())
      const last = items.at(-1)
      if (last === undefined) {
        // A hold that waits here was left by a process that died: only in the ledger is it ever given back.
        moveSoon(company_id, account.waiting ?? [])
        return answers
      }
      const update = { $set: { balance: last.balance_after, seq: last.seq }, $push: { waiting: { $each: items } } }
      const [answer] = await companies.change([{ _id: company_id, rev: account.rev, update }])
      if (answer === 'lost') continue
      moveSoon(company_id, [...(account.waiting ?? []), ...items])
      return answers
    }
    throw new Unavailable('too many entries of one company at once')
  }

  async function move(company_id: string, items: readonly LedgerItem[]): Promise<void> {
    if (items.length === 0) return
    await ledger.insert(items.map(item => written(company_id, item)))
    const entries = items.map(({ entry }) => entry)
    await companies.change([{ _id: company_id, update: { $pull: { waiting: { entry: { $in: entries } } } } }])
  }

  /** From the company to the ledger, in the background; what a crash leaves behind goes with the next. */
  function moveSoon(company_id: string, items: readonly LedgerItem[]): void {
    const moved = move(company_id, items)
      .catch(error => log.warn({ err: error, company_id }, 'ledger.behind'))
      .finally(() => moving.delete(moved))
    moving.add(moved)
  }

  const enter = gatherByKey(({ company_id }: Asked) => company_id, enterAll, TOGETHER)
  return {
    enter: (company_id, entry) => enter({ company_id, entry }),
    async knows(company_id, entry) {
      const { waiting = [] } = await accountOf(company_id)
      if (waiting.some(item => item.entry === entry)) return true
      return (await ledger.find({ entry }, { sort: { entry: 1 }, limit: 1 })).length > 0
    },
    balance: async company_id => (await companies.get([company_id])).get(company_id)?.balance ?? 0,
    flush: async company_id => move(company_id, (await accountOf(company_id)).waiting ?? []),
    settled: async () => void (await Promise.all(moving)),
  }
}

/** Which of the entries there is money for, in their order. Pure. */
export function book(
  account: Pick<Account, 'balance' | 'seq'>,
  entries: readonly Entry[],
  known: ReadonlySet<string>,
  at: number,
): { items: LedgerItem[]; answers: Entered[] } {
  const items: LedgerItem[] = []
  const seen = new Set(known)
  let { balance, seq = 0 } = account
  const answers = entries.map((entry): Entered => {
    if (seen.has(entry.entry)) return 'known'
    const after = balance + entry.micros
    // Past what a number can count exactly, one more would change nothing.
    if (after < 0 || !Number.isSafeInteger(after)) return 'short'
    seen.add(entry.entry)
    balance = after
    seq += 1
    items.push({ ...entry, seq, at, balance_after: balance })
    return 'entered'
  })
  return { items, answers }
}

function written(company_id: string, item: LedgerItem): LedgerDoc {
  const { otp_id, kind, seq, at } = item
  const checked = kind === 'hold' && otp_id !== null
  return {
    _id: ledgerId(company_id, seq),
    company_id,
    rev: 1,
    ...item,
    ...(checked ? { check_at: at + CHECK_AFTER_MS, partition: partitionOf(otp_id) } : {}),
  }
}
