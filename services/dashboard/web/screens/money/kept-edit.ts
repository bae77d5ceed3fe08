// An edit of the prices that is not saved yet, in this tab. The screen is built anew when another company or app is
// chosen, and the prices are those of all companies: the edit outlives it, as a draft of settings does.
import { readInTab, storeInTab } from '../../data/browser-storage.ts'
import type { Draft, Prices } from './price-table.ts'

export interface PricesEdit {
  /** The prices that the edit began with. */
  base: Prices
  draft: Draft
  /** The countries that have a row. */
  rows: readonly string[]
}

const KEY = 'draft prices'

export function readEdit(): PricesEdit | null {
  try {
    const kept = JSON.parse(readInTab(KEY) ?? 'null')
    return kept && { base: new Map(kept.base), draft: new Map(kept.draft), rows: kept.rows }
  } catch {
    return null
  }
}

export const keepEdit = (edit: PricesEdit | null): void =>
  storeInTab(KEY, edit && JSON.stringify({ base: [...edit.base], draft: [...edit.draft], rows: edit.rows }))
