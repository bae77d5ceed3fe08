// The numbers of a statistic. A cell holds the counts of one value, such as the channel `sms`; cells hold those of all
// values of one dimension. In the store the cells of a dimension are one text, because a query reads tens of thousands
// of them. A cell is its value, its counts in the order of COUNTS, and the approvals by time: `sms=12 11 9 8 0 2 1 0 1
// 7:5 12:3;email=1 1 1 0 0 1 0 0 0`. A release with fewer counts has stored fewer; those that are missing are zero.
import { type ApprovalTimes, compactTimes } from './approval-times.ts'

/** `failed` counts verifications. Of messages, `queued` wait for a provider, `unsent` failed before a provider took them, and `undelivered`
 *  failed afterwards, so these two are not and are among `sent`. A new count goes to the end, because the order is stored. */
export const COUNTS = [
  'started',
  'sent',
  'delivered',
  'approved',
  'failed',
  'expired',
  'queued',
  'unsent',
  'undelivered',
] as const
export type Count = (typeof COUNTS)[number]

export interface Cell {
  /** In the order of COUNTS. */
  counts: number[]
  approvals: ApprovalTimes
}

export type Cells = Map<string, Cell>
export type StoredCells = string

/** Where the value is null or not known. Neither this nor REST can be the name of a provider or a country. */
export const NONE = '?'
/** Where a document has too many values already. */
export const REST = '*'

/** More than there are countries, and three times the providers that an app can have. */
const MAX_CELLS = 300
/** More than an app with three providers in each country uses. */
export const MAX_ROUTES = 2_000
/** From this length on, approvals are summed up. */
const MAX_APPROVALS = 2_000

const INDEX = Object.fromEntries(COUNTS.map((name, at) => [name, at])) as Record<Count, number>

const ZEROS: readonly number[] = COUNTS.map(() => 0)

/** Copies the zeros, because a query makes tens of thousands of cells, and filling a new list takes longer. */
export const newCell = (): Cell => ({ counts: ZEROS.slice(), approvals: [] })

export function cellOf(cells: Cells, value: string, max = MAX_CELLS): Cell {
  const found = cells.get(value)
  if (found) return found
  if (cells.size >= max && value !== REST) return cellOf(cells, REST)
  const cell = newCell()
  cells.set(value, cell)
  return cell
}

export function addCount(cell: Cell, name: Count, by: number): void {
  cell.counts[INDEX[name]] = (cell.counts[INDEX[name]] ?? 0) + by
}

export function addApproval(cell: Cell, step: number, by: number): void {
  cell.approvals.push(step, by)
  if (cell.approvals.length > MAX_APPROVALS) cell.approvals = compactTimes(cell.approvals)
}

export const countOf = (cell: Cell, name: Count): number => cell.counts[INDEX[name]] ?? 0

export function addCell(to: Cell, added: Cell): void {
  for (let at = 0; at < COUNTS.length; at += 1) to.counts[at] = (to.counts[at] ?? 0) + (added.counts[at] ?? 0)
  for (let at = 0; at < added.approvals.length; at += 2)
    addApproval(to, added.approvals[at] ?? 0, added.approvals[at + 1] ?? 0)
}

export function addCells(to: Cells, added: Cells, max = MAX_CELLS): void {
  for (const [value, cell] of added) addCell(cellOf(to, value, max), cell)
}

const isEmpty = ({ counts, approvals }: Cell): boolean => approvals.length === 0 && counts.every(count => count === 0)

export const isZeroCells = (cells: Cells): boolean =>
  [...cells.values()].every(({ counts, approvals }) => isEmpty({ counts, approvals: compactTimes(approvals) }))

export function encodeCells(cells: Cells): StoredCells {
  const stored: string[] = []
  for (const [value, { counts, approvals }] of cells) {
    const compact = compactTimes(approvals)
    if (!isEmpty({ counts, approvals: compact })) stored.push(`${value}=${encode(counts, compact)}`)
  }
  return stored.join(';')
}

function encode(counts: readonly number[], approvals: ApprovalTimes): string {
  let text = counts.join(' ')
  for (let at = 0; at < approvals.length; at += 2) text += ` ${approvals[at]}:${approvals[at + 1]}`
  return text
}

export function decodeCells(stored: StoredCells, max = MAX_CELLS): Cells {
  const cells: Cells = new Map()
  addStoredCells(stored, value => cellOf(cells, value, max))
  return cells
}

/** Adds each stored cell to the one that is found for its value. */
export function addStoredCells(stored: StoredCells, find: (value: string) => Cell): void {
  for (let start = 0; start < stored.length; ) {
    const equals = stored.indexOf('=', start)
    const semicolon = stored.indexOf(';', equals)
    const end = semicolon === -1 ? stored.length : semicolon
    addStoredCell(find(stored.slice(start, equals)), stored, equals + 1, end)
    start = end + 1
  }
}

const [MINUS, ZERO, NINE, COLON] = [45, 48, 57, 58]

/** Reads character by character: splitting the text takes five times as long, and this is most of a query. */
function addStoredCell(to: Cell, text: string, start: number, end: number): void {
  let number = 0
  let sign = 1
  let position = 0
  /** The step of the approvals whose number comes next; null where a count comes next. */
  let step: number | null = null
  for (let at = start; at <= end; at += 1) {
    // The end of the cell ends a number, too.
    const char = at === end ? 0 : text.charCodeAt(at)
    if (char >= ZERO && char <= NINE) {
      number = number * 10 + (char - ZERO)
      continue
    }
    if (char === MINUS) {
      sign = -1
      continue
    }
    if (char === COLON) step = number
    else if (step !== null) {
      addApproval(to, step, sign * number)
      step = null
    } else {
      to.counts[position] = (to.counts[position] ?? 0) + sign * number
      position += 1
    }
    number = 0
    sign = 1
  }
}
