// Runs a system as a process. In: a function that starts the system. Out: a signal stops it with exit code 0; a failure ends it with exit
// code 1 and a message that says what to do.
import process from 'node:process'
import type { RunningHost } from './host.ts'
import { scrub } from './log/scrub.ts'
import { StartProblem } from './start-problem.ts'
import { Unavailable } from './unavailable.ts'

/** Orchestrators kill a process ten seconds after its signal. */
const STOP_TIMEOUT_MS = 9_500

/** Resolves once the system is ready, or is stopping after a signal. */
export async function runProcess(start: () => Promise<Pick<RunningHost, 'ready' | 'stop'>>): Promise<void> {
  const starting = Promise.resolve().then(start)
  let stopping = false
  const stop = (): void => {
    // npm passes Ctrl-C on, although the terminal has already sent it to this process.
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref()
    void starting.then(running => running.stop()).finally(() => process.exit(0))
  }
  // Signals count from the first moment: a process may be told to stop while it starts.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  // Node would print every member of an uncaught error, a driver's documents included.
  process.on('uncaughtException', error => {
    process.stderr.write(`Countersign failed.\n${describeError(error)}\n`)
    process.exit(1)
  })
  try {
    await (await starting).ready
  } catch (error) {
    if (stopping) return
    process.stderr.write(`Countersign cannot start.\n${describeError(error)}\n`)
    process.exit(1)
  }
}

/** The stack is shown only if the fault may be in our code, and is scrubbed like a log line: its texts can come from anywhere. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return scrub(String(error))
  const knownKind = error instanceof StartProblem || error instanceof Unavailable || isSystemError(error)
  return knownKind ? error.message : scrub(error.stack ?? error.message)
}

/** An error of the system, such as `EACCES: permission denied, mkdir '/data'`, needs no stack. */
const isSystemError = (error: Error): boolean => 'syscall' in error
