// Balances that are never overdrawn, whoever spends from however many processes. In: entries. Out: entered, known already, or too
// little left. Entries of one company that wait together are one write of its document, so that a busy company costs a write per batch
// and not per send; and holds are written without a look at it first, so that its processes do not lose races to each other.
import type { Clock } from '../../../infra/clock.ts'
import { gatherByKey } from '../../../infra/gather.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { waitingItems } from './batches.ts'
import {
  type Booked,
  book,
  type Entered,
  entered,
  type Known,
  takenBy,
  type Wanted,
  type Writing,
  writing,
} from './booking.ts'
import type { Account, AccountDoc, Entry, MoneyStore } from './documents.ts'
import { movingOn } from './moving.ts'
import type { Room } from './room.ts'

export interface Accounts {
  enter(company_id: string, entry: Entry, room?: Room): Promise<Entered>
  balance(company_id: string): Promise<number>
  /** Whether an entry of this name was entered. */
  knows(company_id: string, entry: string): Promise<boolean>
  /** Resolves when all that was entered for a company is in the ledger. */
  flush(company_id: string): Promise<void>
  /** Resolves when what was entered here is in the ledger, or waits with its company for the sweeper. */
  settled(): Promise<void>
}

export interface AccountParts {
  store: MoneyStore
  clock: Pick<Clock, 'now'>
  log: Logger
}

const TOGETHER = { most: 1_000, parallel: 1 }
/** Every lost race is a batch of another process that was entered. */
const MOST_RACES = 100

interface Asked extends Wanted {
  company_id: string
}

export function accounting({ store, clock, log }: AccountParts): Accounts {
  const [companies, ledger] = [store.docs('companies'), store.docs('ledger')]
  const moving = movingOn({ companies, ledger, clock, log })

  async function accountOf(company_id: string): Promise<AccountDoc> {
    const company = (await companies.get([company_id])).get(company_id)
    if (!company) throw new Error(`there is no company ${company_id}`)
    return company
  }

  /** The account first: what leaves it for the ledger between the two looks is then seen twice, not never. */
  async function knownOf(account: Account, wanted: readonly Wanted[]): Promise<Known> {
    // A hold is for a delivery that has just been thought of: nobody can have entered it.
    const names = wanted.filter(isNoHold).flatMap(({ entry: { entry, delivery_id } }) => [
      entry,
      // The room it took comes back with it.
      ...(delivery_id === null ? [] : [`hold:${delivery_id}`]),
    ])
    if (names.length === 0) return NOTHING_KNOWN
    const found = await ledger.find({ entry: { $in: names } }, { sort: { entry: 1 }, limit: names.length })
    return new Map([...waitingItems(account), ...found].map(item => [item.entry, item]))
  }

  async function write(
    company_id: string,
    booked: readonly Booked[],
    read: Pick<Writing, 'account' | 'lookedUp'>,
  ): Promise<boolean> {
    const now = clock.now()
    const after = await moving.along(company_id, gone => {
      const { filter, update } = writing(company_id, booked, { ...read, gone, now })
      return companies.modify(filter, update)
    })
    if (after) moving.soon(company_id, entered(booked, after, now))
    return after !== null
  }

  async function enterAll(asked: Asked[]): Promise<Entered[]> {
    const { company_id } = asked[0] as Asked
    const onlyHolds = !asked.some(isNoHold)
    if (onlyHolds && (await write(company_id, asked.map(unseen), { account: null }))) return asked.map(() => 'entered')
    for (let races = 0; races < MOST_RACES; races += 1) {
      const account = await accountOf(company_id)
      const { booked, answers } = book(account, asked, await knownOf(account, asked))
      const read = { account, ...(onlyHolds ? {} : { lookedUp: account.looked_up ?? 0 }) }
      if (booked.length === 0 || (await write(company_id, booked, read))) return answers
    }
    throw new Unavailable('too many entries of one company at once')
  }

  // Apart, because holds need not be looked up.
  const enter = gatherByKey((one: Asked) => `${one.company_id}:${isNoHold(one)}`, enterAll, TOGETHER)
  return {
    enter: (company_id, entry, room) => enter({ company_id, entry, room }),
    async knows(company_id, entry) {
      if (waitingItems(await accountOf(company_id)).some(item => item.entry === entry)) return true
      return (await ledger.find({ entry }, { sort: { entry: 1 }, limit: 1 })).length > 0
    },
    balance: async company_id => (await companies.get([company_id])).get(company_id)?.balance ?? 0,
    flush: async company_id => moving.rest(await accountOf(company_id)),
    settled: moving.settled,
  }
}

const isNoHold = ({ entry }: Wanted): boolean => entry.kind !== 'hold'

const NOTHING_KNOWN: Known = new Map()

const unseen = (one: Wanted): Booked => {
  const taken = takenBy(one, NOTHING_KNOWN)
  return { entry: one.entry, ...(taken ? { taken } : {}) }
}
