// The balance below which the owners of a company are told.
import { z } from 'zod'
import type { Operators } from '../../../infra/store/docs.ts'
import type { Company } from './documents.ts'

export const lowBalance = z
  .int()
  .min(1)
  .meta({ description: 'Owners are told when the balance is below this, in micro-units. Null: they are not told.' })

/** The members of a company with this threshold. */
export const lowBalanceMembers = (
  low_balance_micros: number | null,
): Pick<Company, 'low_balance_micros' | 'low_balance_watch'> =>
  low_balance_micros === null ? {} : { low_balance_micros, low_balance_watch: 1 }

/** A change of a company that sets the threshold too, or removes it. */
export const withLowBalance = (change: Partial<Company>, low_balance_micros: number | null): Operators<Company> =>
  low_balance_micros === null
    ? { $set: change, $unset: { low_balance_micros: true, low_balance_watch: true } }
    : { $set: { ...change, ...lowBalanceMembers(low_balance_micros) } }
