// The heap of this process: how far it may grow between two full garbage collections, and how large the part for new objects is.
import process from 'node:process'
import v8 from 'node:v8'
import { StartProblem } from './start-problem.ts'

/** In percent of what is in use. Left alone, V8 lets the heap of a busy process grow to four times what is in use: 270 MiB of which 70 were
 *  in use, at 400 sends a second. A full collection takes some tenth of a second of processor time, and 100 makes two to three times as
 *  many of them; 50 saved 25 MiB more and cost another tenth of the processor time of a send. */
const GROWTH_PERCENT = 100

/** For a process that shares its machine with the rest of a small system. V8 reads this setting at each collection, so that it may be set
 *  in a running process. A limit of the heap would not do: a process that needs more for a moment would end. */
export const limitHeapGrowth = (): void => v8.setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)

/** The megabytes follow. */
export const YOUNG_HEAP_FLAG = '--max-semi-space-size='

/** Throws where HEAP_YOUNG_MB is set and Node was not told: V8 reads this setting only when it starts, so infra/start.sh passes it on. */
export function requireYoungHeap(mb: number | null, flags: readonly string[] = process.execArgv): void {
  const isSet = flags.some(
    flag => flag.startsWith(YOUNG_HEAP_FLAG) && Number(flag.slice(YOUNG_HEAP_FLAG.length)) === mb,
  )
  if (mb !== null && !isSet)
    throw new StartProblem(
      `HEAP_YOUNG_MB: Node takes it only when it starts. Start with npm start, or with node ${YOUNG_HEAP_FLAG}${mb}`,
    )
}
