// In: the values of a row. Out: a line of CSV as RFC 4180 has it. A spreadsheet takes a cell that begins like a formula
// for one, and would run what a stranger has written: an apostrophe in front makes it a text. A spreadsheet that splits
// at semicolons, as those of many countries do, or at tabs does not honour our quotes, and begins a cell in the middle
// of ours: so an apostrophe stands there too.

export const CSV_TYPE = 'text/csv'

/** In the first cell of the last line of a file that does not have all rows. The cell after it has the cursor of the next file. */
export const MORE_ROWS = '# More rows may follow. Go on with this cursor:'

/** What begins a formula, also in the wide forms that some spreadsheets take for it; tabs and ends of lines too,
 *  because spreadsheets drop them there and see what follows. The apostrophes before it are counted in, so that a
 *  reader who removes one of them has the value as it was. */
const FORMULA = /^(?='*[=+\-@\t\r\n＝＋－＠])/

/** The same where another separator begins a cell. */
const FORMULA_AFTER_SEPARATOR = /([;\t\r\n]"*)(?='*[=+\-@＝＋－＠])/g

/** Semicolons and tabs too: some spreadsheets split at all three. */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$/

export const csvLine = (values: readonly unknown[]): string => `${values.map(csvCell).join(',')}\r\n`

/** Nothing is an empty cell. What has members is JSON. */
function csvCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  // A negative number is a number, and not a formula.
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const safe = text.replaceAll(FORMULA_AFTER_SEPARATOR, "$1'").replace(FORMULA, "'")
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
