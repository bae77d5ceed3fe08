// Saves a list as a CSV file, with the filters of the screen. In: the call of the list. Out: a file in the browser's downloads. It begins with a byte
// order mark, without which Excel takes UTF-8 for another encoding.
import { useState } from 'preact/hooks'
import { CSV_TYPE, MORE_ROWS } from '../../../../infra/csv.ts'
import { Problem } from '../api/problem.ts'
import { useChange } from '../data/use-change.ts'
import { Button } from './button.tsx'
import { Notice, ProblemNotice } from './notice.tsx'

const AS_CSV = { headers: { Accept: CSV_TYPE }, parseAs: 'blob' } as const

export interface ExportButtonProps {
  /** Calls the list, without a cursor and a limit. */
  read(asCsv: typeof AS_CSV): Promise<{ data?: Blob | undefined; response: Response }>
}

const BYTE_ORDER_MARK = '\ufeff'
/** More than the last line of a file that was cut off has. */
const TAIL_BYTES = 1_000

export function ExportButton({ read }: ExportButtonProps) {
  const change = useChange()
  const [isCut, setCut] = useState(false)
  const exportList = () =>
    change.run(async () => {
      setCut(false)
      const { data: file, response } = await read(AS_CSV).catch(brokenOff)
      if (!file) return
      save(new Blob([BYTE_ORDER_MARK, file], { type: CSV_TYPE }), fileName(response))
      setCut((await file.slice(-TAIL_BYTES).text()).includes(MORE_ROWS))
    })
  return (
    <div class="export">
      <Button busy={change.busy} onClick={exportList}>
        Export CSV
      </Button>
      {isCut && (
        <Notice tone="warning">The file has the newest rows only: narrow the filters to get the others.</Notice>
      )}
      {change.problem && <ProblemNotice problem={change.problem} />}
    </div>
  )
}

/** An answer that ends too early is no file. */
function brokenOff(thrown: unknown): never {
  throw thrown instanceof Problem ? thrown : new Problem(0, { detail: 'The file broke off. Try again.' })
}

const fileName = ({ headers }: Response): string =>
  /filename="([^"]+)"/.exec(headers.get('Content-Disposition') ?? '')?.[1] ?? 'export.csv'

function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
