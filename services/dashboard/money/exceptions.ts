// The exceptions: entries of the ledger that explain a difference to a vendor's invoice. In: entries of a company. Out:
// what each of them explains.
import type { Docs } from '../../../infra/store/docs.ts'
import type { LedgerDoc } from '../../domain/money/documents.ts'

export const EXCEPTION_KINDS = [
  'accepted_twice',
  'maybe_accepted_twice',
  'refunded_and_delivered',
  'refunded_without_answer',
  'paid_without_acceptance',
  'overdrawn',
] as const
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number]

export interface ExplainedEntry extends LedgerDoc {
  exceptions: readonly ExceptionKind[]
}

type Ledger = Pick<Docs<LedgerDoc>, 'find'>

/** Of a portion of entries: all are looked up together. */
export async function withExceptions(
  ledger: Ledger,
  company_id: string,
  entries: readonly LedgerDoc[],
): Promise<ExplainedEntry[]> {
  const unaccepted = entries.filter(({ kind, accepted }) => kind === 'hold' && accepted === 0)
  const back = await givenBack(ledger, company_id, unaccepted)
  return entries.map(entry => ({ ...entry, exceptions: exceptionsOf(entry, back.has(entry.delivery_id)) }))
}

/** `atOnce`: how many are looked up together. */
export async function* explained(
  ledger: Ledger,
  { company_id, atOnce }: { company_id: string; atOnce: number },
  entries: AsyncIterable<LedgerDoc>,
): AsyncGenerator<ExplainedEntry> {
  let waiting: LedgerDoc[] = []
  for await (const entry of entries) {
    waiting.push(entry)
    if (waiting.length < atOnce) continue
    yield* await withExceptions(ledger, company_id, waiting)
    waiting = []
  }
  yield* await withExceptions(ledger, company_id, waiting)
}

/** The deliveries of the holds that were given back. */
async function givenBack(ledger: Ledger, company_id: string, holds: readonly LedgerDoc[]): Promise<Set<string | null>> {
  if (holds.length === 0) return new Set()
  const entry = { $in: holds.map(({ delivery_id }) => `back:${delivery_id}`) }
  const found = await ledger.find({ company_id, entry }, { sort: { entry: 1 }, limit: holds.length })
  return new Set(found.filter(({ micros }) => micros > 0).map(({ delivery_id }) => delivery_id))
}

function exceptionsOf(entry: LedgerDoc, isGivenBack: boolean): ExceptionKind[] {
  const overdrawn = entry.balance_after < 0 && entry.micros < 0 ? ('overdrawn' as const) : null
  return [overdrawn, exceptionOf(entry, isGivenBack)].filter(kind => kind !== null)
}

/** What calls of providers are known of an entry is known some hours later. */
function exceptionOf(
  { kind, micros, accepted, unanswered = 0 }: LedgerDoc,
  isGivenBack: boolean,
): ExceptionKind | null {
  if (kind === 'recharge') return 'refunded_and_delivered'
  if (accepted === undefined) return null
  if (kind === 'hold') {
    if (accepted > 1) return 'accepted_twice'
    if (accepted === 1) return unanswered > 0 ? 'maybe_accepted_twice' : null
    return isGivenBack ? null : 'paid_without_acceptance'
  }
  // With 0, an erased message stays paid.
  return micros > 0 && accepted === 0 && unanswered > 0 ? 'refunded_without_answer' : null
}
