// Entries of the ledger for tests that care about names and amounts alone.
import {
  type Entry,
  type EntryKind,
  holdEntry,
  type LedgerDoc,
  ledgerId,
  type PaidMessage,
} from '../../services/domain/money/documents.ts'

const PAID_MESSAGE = { app_id: 'app_1', channel: 'sms', country: 'GB' } as const

export const hold = (otp_id: string | null, delivery_id: string, micros: number): Entry =>
  holdEntry({ otp_id, delivery_id, micros, by: 'key_1', message: PAID_MESSAGE })

export const LEDGER_COMPANY = 'cmp_1'

export interface Entered {
  kind: EntryKind
  micros: number
  at: number
  delivery?: number
  message?: PaidMessage
  provider?: string | null
  accepted?: number
  unanswered?: number
}

/** A ledger as accounts would have entered it. */
export function ledgerOf(entries: readonly Entered[]): LedgerDoc[] {
  let balance_after = 0
  return entries.map(({ kind, micros, at, delivery = 0, message = PAID_MESSAGE, ...settled }, nth) => {
    balance_after += micros
    const isCredit = kind === 'credit'
    const delivery_id = isCredit ? null : `dlv_${delivery}`
    const names = { credit: `credit:${nth}`, hold: `hold:${delivery_id}`, recharge: `${delivery_id}:recharge` }
    return {
      _id: ledgerId(LEDGER_COMPANY, nth + 1),
      company_id: LEDGER_COMPANY,
      rev: 1,
      seq: nth + 1,
      entry: kind in names ? names[kind as keyof typeof names] : `back:${delivery_id}`,
      kind,
      micros,
      at,
      balance_after,
      otp_id: isCredit ? null : 'otp_1',
      delivery_id,
      note: null,
      by: null,
      message: isCredit ? null : message,
      ...settled,
    }
  })
}
