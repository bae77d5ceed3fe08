// The log. In: fields and an event, `log.info({ otp_id, channel, ms }, 'delivery.attempted')`. Out: one JSON line, or readable text on a
// terminal. Fields, bindings and messages all pass through redact(): pino's own redaction knows fixed paths only, and looks neither into
// messages nor into errors.
import process from 'node:process'
import { pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { LogLevel } from '../config/config.ts'
import { redact } from './redact.ts'
import { scrub } from './scrub.ts'

export type WriteLine = (fields: object, event: string) => void

export interface Logger {
  trace: WriteLine
  debug: WriteLine
  info: WriteLine
  warn: WriteLine
  error: WriteLine
  fatal: WriteLine
  /** A log that adds these fields to every line. */
  child(fields: object): Logger
  /** Whether lines of this level are written. Ask before building costly fields. */
  writes(level: Level): boolean
}

export type Level = Exclude<LogLevel, 'silent'>

export interface LogOptions {
  level: LogLevel
  /** Readable text instead of JSON. Default: whether standard output is a terminal. */
  pretty?: boolean
  /** Default: standard output, written synchronously, so that a crash loses no line. */
  destination?: { write(line: string): void }
}

export function createLog({ level, pretty = process.stdout.isTTY === true, destination }: LogOptions): Logger {
  const out = destination ?? pino.destination({ fd: 1, sync: true })
  const options = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // redact() has already turned errors into fields. pino's own serializer would do it again.
    serializers: { err: (fields: unknown) => fields },
  }
  return createLogger(pino(options, pretty ? createPrettyDestination(out) : out))
}

function createLogger(inner: pino.Logger): Logger {
  const write =
    (level: Level): WriteLine =>
    (fields, event) => {
      if (inner.isLevelEnabled(level)) inner[level](redact(fields), scrub(event))
    }
  return {
    trace: write('trace'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    child: fields => createLogger(inner.child(redact(fields))),
    writes: level => inner.isLevelEnabled(level),
  }
}

/** Runs pino-pretty in this thread: its usual worker thread loses lines on exit and does not run on every platform. */
function createPrettyDestination(out: { write(line: string): void }): { write(line: string): void } {
  const format = prettyFactory({
    colorize: process.stdout.isTTY === true,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    // A terminal shows one process.
    ignore: 'pid',
    errorLikeObjectKeys: ['err'],
  })
  return { write: line => out.write(format(line) ?? line) }
}
