// Balances that are never overdrawn, however many processes spend from them. In: entries. Out: for each, whether it was entered, known
// already, or refused. Entries of one company that wait together are one write of its document, so a busy company costs a write per
// batch and not per send. Holds are first written without reading the company, so that processes do not lose races to each other.
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import type { SpendCap } from '../../../machines/spend-caps.ts'
import { waitingItems } from './batches.ts'
import {
  type AccountWriteInput,
  accountWrite,
  type BookedEntry,
  book,
  type EnterResult,
  type EntryRequest,
  enteredBatch,
  type KnownEntries,
  spendOf,
} from './booking.ts'
import type { AccountDoc, Entry, LedgerItem, MoneyStore } from './documents.ts'
import { createLedgerWriter } from './ledger-writer.ts'

export interface Accounts {
  enter(company_id: string, entry: Entry, cap?: SpendCap): Promise<EnterResult>
  /** Says that the delivery of a hold is saved, so that the sweeper need not look for it. Only for a hold of this process; any other
   *  changes nothing. A hold that is never confirmed is checked by the sweeper. */
  confirmHold(delivery_id: string): void
  balance(company_id: string): Promise<number>
  /** The entry of this name, if it was entered. */
  find(company_id: string, entry: string): Promise<LedgerItem | undefined>
  /** Resolves when all that was entered for a company is in the ledger: with the company as it was read before. */
  flush(company_id: string): Promise<AccountDoc>
  /** Resolves when all entries of this process are in the ledger, or left in the company's document for the sweeper. */
  settled(): Promise<void>
}

/** It was deleted. */
export class NoSuchCompany extends Error {
  override name = 'NoSuchCompany'

  constructor(company_id: string) {
    super(`there is no company ${company_id}`)
  }
}

export interface AccountsDeps {
  store: MoneyStore
  clock: Pick<Clock, 'now' | 'after'>
  log: Logger
}

const BATCHING = { maxSize: 1_000, parallel: 1 }
/** Many, because all processes enter sends of a busy company. A race is lost only to a batch that another one has entered. */
const MAX_TRIES_AFTER_LOST_RACE = 100

interface CompanyEntryRequest extends EntryRequest {
  company_id: string
}

export function createAccounts({ store, clock, log }: AccountsDeps): Accounts {
  const [companies, ledger] = [store.docs('companies'), store.docs('ledger')]
  const ledgerWriter = createLedgerWriter({ companies, ledger, clock, log })

  async function accountOf(company_id: string): Promise<AccountDoc> {
    // A primary of the store that was cut off may answer from before the company was made.
    const company = (await getOne(companies, company_id)) ?? (await getOne(companies, company_id, { certain: true }))
    if (!company) throw new NoSuchCompany(company_id)
    return company
  }

  /** `account` was read before the ledger is: an entry that moves to the ledger in between is then found twice, not missed. */
  async function findKnown(account: AccountDoc, requests: readonly EntryRequest[]): Promise<KnownEntries> {
    // A hold is for a delivery with a new id, so it cannot have been entered before.
    const names = requests.filter(isNotHold).flatMap(({ entry: { entry, delivery_id } }) => [
      entry,
      // A refund is deducted from the spend cap that its hold counts against.
      ...(delivery_id === null ? [] : [`hold:${delivery_id}`]),
    ])
    if (names.length === 0) return NOTHING_KNOWN
    const filter = { company_id: account._id, entry: { $in: names } }
    const found = await ledger.find(filter, { sort: { entry: 1 }, limit: names.length })
    return new Map([...waitingItems(account), ...found].map(item => [item.entry, item]))
  }

  async function write(
    company_id: string,
    booked: readonly BookedEntry[],
    read: Pick<AccountWriteInput, 'account' | 'lookedUp'>,
  ): Promise<boolean> {
    const now = clock.now()
    const after = await ledgerWriter.writeCompany(company_id, movedSeqs => {
      const { filter, update } = accountWrite(company_id, booked, { ...read, movedSeqs, now })
      return companies.modify(filter, update)
    })
    if (after) ledgerWriter.moveWhenConfirmed(company_id, enteredBatch(booked, after, now))
    return after !== null
  }

  async function enterAll(requests: CompanyEntryRequest[]): Promise<EnterResult[]> {
    const { company_id } = requests[0] as CompanyEntryRequest
    const onlyHolds = !requests.some(isNotHold)
    if (onlyHolds && (await write(company_id, requests.map(bookUnread), { account: null })))
      return requests.map(() => 'entered')
    const enterOnce = async (): Promise<EnterResult[] | typeof LOST> => {
      const account = await accountOf(company_id)
      const { booked, answers } = book(account, requests, await findKnown(account, requests))
      const read = { account, ...(onlyHolds ? {} : { lookedUp: account.looked_up }) }
      return booked.length === 0 || (await write(company_id, booked, read)) ? answers : LOST
    }
    return retryAfterLostRace('a balance', enterOnce, MAX_TRIES_AFTER_LOST_RACE)
  }

  // Holds are batched apart, because only the other entries are looked up in the ledger.
  const enter = createKeyedBatcher(
    (one: CompanyEntryRequest) => `${one.company_id}:${isNotHold(one)}`,
    enterAll,
    BATCHING,
  )
  return {
    enter: (company_id, entry, cap) => enter({ company_id, entry, cap }),
    confirmHold: ledgerWriter.confirm,
    async find(company_id, entry) {
      const waiting = waitingItems(await accountOf(company_id)).find(item => item.entry === entry)
      return waiting ?? (await ledger.find({ company_id, entry }, { sort: { entry: 1 }, limit: 1 }))[0]
    },
    balance: async company_id => (await getOne(companies, company_id))?.balance ?? 0,
    async flush(company_id) {
      const account = await accountOf(company_id)
      await ledgerWriter.moveAll(account)
      return account
    },
    settled: ledgerWriter.settled,
  }
}

const isNotHold = ({ entry }: EntryRequest): boolean => entry.kind !== 'hold'

const NOTHING_KNOWN: KnownEntries = new Map()

const bookUnread = (one: EntryRequest): BookedEntry => {
  const spend = spendOf(one, NOTHING_KNOWN)
  return { entry: one.entry, ...(spend ? { spend } : {}) }
}
