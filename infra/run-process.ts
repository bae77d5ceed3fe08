// Runs a system as a process of its own. In: how to start it. Out: signals that stop it and end with exit 0, and failures told so
// that a person can act on them, with exit 1.
import process from 'node:process'
import type { RunningHost } from './host.ts'
import { scrub } from './log/scrub.ts'
import { StartProblem } from './start-problem.ts'
import { Unavailable } from './unavailable.ts'

/** Orchestrators kill after ten seconds. */
const STOP_TIMEOUT_MS = 9_500

/** Resolves once the system is ready, or is stopping because it was told to. */
export async function runProcess(start: () => Promise<Pick<RunningHost, 'ready' | 'stop'>>): Promise<void> {
  const starting = Promise.resolve().then(start)
  let stopping = false
  const stop = (): void => {
    // Told again: npm hands on the Ctrl-C that the terminal has sent to everyone already.
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(0), STOP_TIMEOUT_MS).unref()
    void starting.then(running => running.stop()).finally(() => process.exit(0))
  }
  // From the first moment: whoever starts a process may change their mind at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
  // A bug nobody caught. Left to Node, its last words would show all that hangs on the error, a driver's documents included.
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

/** A stack only where the fault may be in the code; then nobody has looked what is in it, so it is made as safe as a log line. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return scrub(String(error))
  const knownKind = error instanceof StartProblem || error instanceof Unavailable || isSystemError(error)
  return knownKind ? error.message : scrub(error.stack ?? error.message)
}

/** `EACCES: permission denied, mkdir '/data'` says all there is to say. */
const isSystemError = (error: Error): boolean => 'syscall' in error
