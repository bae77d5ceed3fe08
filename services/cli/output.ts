// What the command line prints. In: answers of the API. Out: tables and records for people, or JSON for programs.
import process from 'node:process'

export const printLine = (text: string): void => void process.stdout.write(`${text}\n`)
/** Beside the result: questions, progress, hints. */
export const printNote = (text: string): void => void process.stderr.write(`${text}\n`)

export type Cell = string | number | boolean | null | undefined

/** Names and notes are written by others. A terminal would obey the control characters in them. */
export const printable = (value: Cell): string =>
  value === null || value === undefined ? '-' : String(value).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd')

/** Columns by name, as wide as their widest cell. */
export function tableLines<T>(items: readonly T[], columns: Record<string, (item: T) => Cell>): string[] {
  const rows = [Object.keys(columns), ...items.map(item => Object.values(columns).map(cell => printable(cell(item))))]
  const widths = Object.keys(columns).map((_, at) => Math.max(...rows.map(row => (row[at] ?? '').length)))
  return rows.map(row =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** One member a line. A member that is an object or a list is shown as JSON. */
export function recordLines(record: object): string[] {
  const width = Math.max(...Object.keys(record).map(name => name.length))
  return Object.entries(record).map(([name, value]) => {
    const cell = typeof value === 'object' && value !== null ? JSON.stringify(value) : value
    return `${name.padEnd(width)}  ${printable(cell)}`
  })
}

export const jsonText = (value: unknown): string => JSON.stringify(value, null, 2)
