// The statement of a company's month. In: the entries of the month, oldest first. Out: opening and closing balance,
// what was credited, charged and given back by app, channel, country, provider and price, and the exceptions that
// explain a difference to a vendor's invoice. The sums add up to the ledger: opening + credits + charges + given back +
// charged again = closing.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isoTime } from '../../../infra/iso-time.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { type LedgerDoc, ledgerId } from '../../domain/money/documents.ts'
import { DEFAULT_TIMEZONE, monthRange } from '../../domain/money/month.ts'
import type { App, Company, DeletionDoc } from '../../domain/tenancy/documents.ts'
import { type ExplainedEntry, withExceptions } from './exceptions.ts'
import { seqAt } from './ledger.ts'
import type { StatementAnswer, StatementException, StatementRow } from './schemas.ts'

const MAX_EXCEPTIONS = 1_000
const READ_AT_ONCE = 500

/** The company is as it was read before its entries were moved to the ledger. */
export async function readStatement(
  { ledger, apps, deletions }: StatementDocs,
  { _id: company_id, seq: lastSeq, settled_seq = 0, timezone = DEFAULT_TIMEZONE }: StatementCompany,
  month: string,
): Promise<StatementAnswer> {
  const { from, until } = monthRange(month, timezone)
  const first = await seqAt(ledger, company_id, lastSeq, from)
  const end = await seqAt(ledger, company_id, lastSeq, until)
  const [before, settled] = await Promise.all(
    [first - 1, settled_seq].map(seq => getOne(ledger, ledgerId(company_id, seq))),
  )
  const statement = createStatement(before?.balance_after ?? 0)
  for (let next = first; next < end; next += READ_AT_ONCE) {
    const _id = {
      $gte: ledgerId(company_id, next),
      $lt: ledgerId(company_id, Math.min(next + READ_AT_ONCE, end)),
    }
    const entries = await ledger.find({ company_id, _id }, { sort: { _id: 1 }, limit: READ_AT_ONCE })
    for (const entry of await withExceptions(ledger, company_id, entries)) statement.add(entry)
    await nextTurn()
  }
  const [stored, deleted] = await Promise.all([apps, deletions].map(docs => docs.get(statement.appIds())))
  const nameOfApp = (app_id: string) => (stored?.get(app_id) ?? deleted?.get(app_id))?.name ?? null
  const { rows, ...totals } = statement.totals(nameOfApp)
  return {
    company_id,
    month,
    timezone,
    from: isoTime(from),
    until: isoTime(until),
    settled_until: settled === undefined ? null : isoTime(settled.at),
    ...totals,
    rows: rows.map(row => ({ month, timezone, ...row })),
  }
}

export interface StatementDocs {
  ledger: Pick<Docs<LedgerDoc>, 'find' | 'get'>
  apps: Pick<Docs<App>, 'get'>
  deletions: Pick<Docs<DeletionDoc>, 'get'>
}

type StatementCompany = Pick<Company, '_id' | 'seq' | 'settled_seq' | 'timezone'>

/** What the entries say of a row. */
type MessagesRow = Omit<StatementRow, 'month' | 'timezone'>
type Totals = Omit<
  StatementAnswer,
  'company_id' | 'month' | 'timezone' | 'from' | 'until' | 'settled_until' | 'rows'
> & {
  rows: MessagesRow[]
}

export interface Statement {
  /** In the order of their numbers. */
  add(entry: ExplainedEntry): void
  appIds(): string[]
  totals(appName: (app_id: string) => string | null): Totals
}

export function createStatement(opening_micros: number): Statement {
  const rows = new Map<string, Omit<MessagesRow, 'app_name'>>()
  const exceptions: StatementException[] = []
  const sums = { credits_micros: 0, charges_micros: 0, refunds_micros: 0, recharges_micros: 0 }
  let [exception_count, closing_micros] = [0, opening_micros]

  function listExceptions({ exceptions: kinds, at, otp_id, delivery_id, micros }: ExplainedEntry): void {
    exception_count += kinds.length
    const room = MAX_EXCEPTIONS - exceptions.length
    exceptions.push(...kinds.slice(0, room).map(kind => ({ kind, at: isoTime(at), otp_id, delivery_id, micros })))
  }

  function rowOf({ message, provider, micros }: LedgerDoc): Omit<MessagesRow, 'app_name'> {
    const unit_micros = Math.abs(micros)
    const { app_id = null, channel = null, country = null } = message ?? {}
    const key = JSON.stringify([app_id, channel, country, provider, unit_micros])
    const row = rows.get(key) ?? { ...EMPTY_ROW, app_id, channel, country, provider: provider ?? null, unit_micros }
    rows.set(key, row)
    return row
  }

  return {
    add(entry) {
      const { kind, micros, balance_after } = entry
      closing_micros = balance_after
      listExceptions(entry)
      // An erased message that stays paid.
      if (kind === 'void' && micros === 0) return
      if (kind === 'credit') {
        sums.credits_micros += micros
        return
      }
      const row = rowOf(entry)
      if (kind === 'hold') {
        sums.charges_micros += micros
        row.charged += 1
        row.charged_micros += micros
      } else if (kind === 'recharge') {
        sums.recharges_micros += micros
        row.recharged += 1
        row.recharged_micros += micros
      } else {
        sums.refunds_micros += micros
        row.refunded += 1
        row.refunded_micros += micros
      }
    },
    appIds: () => [...new Set([...rows.values()].flatMap(({ app_id }) => app_id ?? []))],
    totals: appName => ({
      opening_micros,
      ...sums,
      closing_micros,
      rows: [...rows.values()].sort(byName).map(({ app_id, ...row }) => ({
        app_id,
        app_name: app_id === null ? null : appName(app_id),
        ...row,
      })),
      exceptions,
      exception_count,
    }),
  }
}

const EMPTY_ROW = {
  charged: 0,
  charged_micros: 0,
  refunded: 0,
  refunded_micros: 0,
  recharged: 0,
  recharged_micros: 0,
}

type SortedBy = Pick<MessagesRow, 'app_id' | 'channel' | 'country' | 'provider' | 'unit_micros'>

const nameOf = ({ app_id, channel, country, provider, unit_micros }: SortedBy): string =>
  [app_id, channel, country, provider, String(unit_micros).padStart(16, '0')].join(' ')

const byName = (one: SortedBy, other: SortedBy): number => nameOf(one).localeCompare(nameOf(other))
