// Runs a system as a process. In: a function that starts the system. Out: a signal stops it with exit code 0; a failure ends it with exit
// code 1 and a message that says what to do.
import process from 'node:process'
import type { RunningHost } from './host.ts'
import type { Logger } from './log/log.ts'
import { scrub } from './log/scrub.ts'
import { StartProblem } from './start-problem.ts'
import { Unavailable } from './unavailable.ts'

/** For a process that is still starting, and has nothing in hand. */
const STOP_START_MS = 9_500
/** npm, or an orchestrator that signals every process of a group, sends a signal twice. A later one is meant: the stop delay ends. */
const REPEATED_SIGNAL_MS = 1_000

/** What runs in the process. */
export interface RunningSystem extends Pick<RunningHost, 'ready' | 'drain' | 'stop' | 'stopMs'> {
  log: Logger
  /** Copies what is stored, and answers where to. */
  backUp?(): Promise<string>
}

/** Resolves once the system is ready, or is stopping after a signal. */
export async function runProcess(start: () => Promise<RunningSystem>): Promise<void> {
  const starting = Promise.resolve().then(start)
  let log: Logger | undefined
  let signalledAt: number | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signalledAt === undefined) {
      signalledAt = performance.now()
      void stop(starting, signal)
    } else if (performance.now() - signalledAt > REPEATED_SIGNAL_MS)
      starting.then(running => running.stop()).catch(() => {}) // The first signal's `stop` ends the process in any case.
  }
  // Signals count from the first moment: a process may be told to stop while it starts.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal)
  // Without a listener this signal would end the process.
  process.on('SIGUSR2', () => void starting.then(backUp, () => {}))
  // Node would print every member of an uncaught error, a driver's documents included.
  process.on('uncaughtException', error => {
    log?.fatal({ err: error }, 'countersign.failed')
    process.stderr.write(`Countersign failed.\n${describeError(error)}\n`)
    process.exit(1)
  })
  try {
    const running = await starting
    log = running.log
    await running.ready
  } catch (error) {
    if (signalledAt !== undefined) return
    process.stderr.write(`Countersign cannot start.\n${describeError(error)}\n`)
    process.exit(1)
  }
}

async function backUp({ log, backUp: copy }: RunningSystem): Promise<void> {
  if (!copy) return log.warn({}, 'backup.not_embedded')
  const began = performance.now()
  try {
    const folder = await copy()
    log.info({ folder, ms: Math.round(performance.now() - began) }, 'backup.made')
  } catch (error) {
    log.error({ err: error }, 'backup.failed')
  }
}

/** Ends the process, in time even if the system does not stop, and even if it never starts. */
async function stop(starting: Promise<RunningSystem>, signal: NodeJS.Signals): Promise<void> {
  const startTimer = setTimeout(exit, STOP_START_MS)
  const signalledAt = performance.now()
  const ms = (): number => Math.round(performance.now() - signalledAt)
  try {
    const { log, ...running } = await starting
    clearTimeout(startTimer)
    log.info({ signal }, 'countersign.stopping')
    await running.drain()
    setTimeout(() => {
      log.warn({ ms: ms() }, 'countersign.cut_off')
      exit()
    }, running.stopMs)
    await running.stop()
    log.info({ ms: ms() }, 'countersign.stopped')
  } finally {
    exit()
  }
}

const exit = (): never => process.exit(0)

/** The stack is shown only if the fault may be in our code, and is scrubbed like a log line: its texts can come from anywhere. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return scrub(String(error))
  const knownKind = error instanceof StartProblem || error instanceof Unavailable || isSystemError(error)
  return knownKind ? error.message : scrub(error.stack ?? error.message)
}

/** An error of the system, such as `EACCES: permission denied, mkdir '/data'`, needs no stack. */
const isSystemError = (error: Error): boolean => 'syscall' in error
