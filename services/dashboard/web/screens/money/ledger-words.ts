// The kinds of ledger entries, in words.
import type { Schemas } from '../../api/schema.ts'

export type LedgerEntry = Schemas['LedgerEntry']
type EntryKind = Schemas['EntryKind']

const KINDS: Readonly<Record<EntryKind, string>> = {
  credit: 'Credit',
  hold: 'Charged for a message',
  refund: 'Given back: the message failed',
  void: 'Given back: the message was never made',
  recharge: 'Charged again: the message had arrived',
}

export function entryText({ kind, micros }: Pick<LedgerEntry, 'kind' | 'micros'>): string {
  if (kind === 'credit' && micros < 0) return 'Credit taken back'
  if (kind === 'void' && micros === 0) return 'Stays paid: the message was sent, and erased later'
  return KINDS[kind] ?? kind
}
