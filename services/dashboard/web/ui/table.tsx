// Tables. On a narrow screen every row becomes a card in which each value has its column's name.
import type { ComponentChildren } from 'preact'

export interface Column<T> {
  /** The heading; also the label of the value on a narrow screen. */
  name: string
  show(row: T): ComponentChildren
  /** Numbers are aligned to the right. */
  align?: 'right'
  /** Hides the heading from view, for a column of buttons. It is still read out. */
  quiet?: boolean
}

export interface TableProps<T> {
  /** What the table lists; read out, not shown. */
  caption: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf(row: T): string
  /** While rows are read again. */
  busy?: boolean
}

export function Table<T>({ caption, columns, rows, keyOf, busy = false }: TableProps<T>) {
  return (
    <div class="table-frame" aria-busy={busy}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, align, quiet }) => (
              <th key={name} scope="col" class={align}>
                {quiet ? <span class="unseen">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, show, align, quiet }) => (
                <td key={name} class={align} data-label={quiet ? undefined : name}>
                  {show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The buttons of a row, in its last column. */
export const RowActions = ({ children }: { children: ComponentChildren }) => <div class="row-actions">{children}</div>
