// Saves a list as CSV files, with the filters of the screen. In: the call of the list. Out: a file in the browser's
// downloads, and a button for the next one where the server has more rows than it puts into a file. A file begins with
// a byte order mark, without which Excel takes UTF-8 for another encoding. A screen that changes its filters gives the
// button another key.
import { useRef, useState } from 'preact/hooks'
import { CSV_TYPE, MORE_ROWS } from '../../../../infra/csv.ts'
import { Problem } from '../api/problem.ts'
import { useChange } from '../data/use-change.ts'
import { Button } from './button.tsx'
import { Notice, ProblemNotice } from './notice.tsx'

const AS_CSV = { headers: { Accept: CSV_TYPE }, parseAs: 'blob' } as const

export interface ExportButtonProps {
  /** Calls the list, from the cursor on if there is one, and without a limit. */
  read(asCsv: typeof AS_CSV, from: { cursor?: string }): Promise<{ data?: Blob | undefined; response: Response }>
  label?: string
}

const BYTE_ORDER_MARK = '\ufeff'
/** More than the last line of a file that was cut off has. */
const TAIL_BYTES = 4_000
/** That line alone: a text of a row that looks like it ends with a quote. */
const LAST_LINE = new RegExp(`\\r\\n${MORE_ROWS},([^,"\\r\\n]+),*\\r\\n$`)

export function ExportButton({ read, label = 'Export CSV' }: ExportButtonProps) {
  const change = useChange()
  const frame = useRef<HTMLDivElement>(null)
  /** Where the rows after the last file begin; null where it has the last ones. */
  const [cursor, setCursor] = useState<string | null>(null)
  const exportFrom = (from: { cursor?: string }) =>
    change.run(async () => {
      const { data: file, response } = await read(AS_CSV, from).catch(brokenOff)
      if (!file) return
      saveFile(new Blob([BYTE_ORDER_MARK, file], { type: CSV_TYPE }), fileNameOf(response))
      const [, next = null] = LAST_LINE.exec(await file.slice(-TAIL_BYTES).text()) ?? []
      setCursor(next)
      // "Next file", which may have the focus, is gone then. A focus elsewhere is not taken: the viewer has gone on meanwhile.
      const hasFocus = frame.current?.contains(document.activeElement)
      if (next === null && hasFocus) frame.current?.querySelector('button')?.focus()
    })
  return (
    <div ref={frame} class="export">
      <Button busy={change.busy} onClick={() => exportFrom({})}>
        {label}
      </Button>
      {cursor !== null && (
        <Notice tone="warning">
          <p>The list is longer than a file. The next file has the rows that follow.</p>
          <Button busy={change.busy} onClick={() => exportFrom({ cursor })}>
            Next file
          </Button>
        </Notice>
      )}
      {change.problem && <ProblemNotice problem={change.problem} />}
    </div>
  )
}

/** An answer that ends too early is no file. */
function brokenOff(thrown: unknown): never {
  throw thrown instanceof Problem ? thrown : new Problem(0, { detail: 'The file broke off. Try again.' })
}

export const fileNameOf = ({ headers }: Response): string =>
  /filename="([^"]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'export'

export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
