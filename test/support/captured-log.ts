// A log that keeps its lines in memory, for tests that read them.
import { createLog, type Logger, type LogOptions } from '../../infra/log/log.ts'
import { registerCodePattern } from '../../infra/log/scrub.ts'
import { CODE_IN_MESSAGE } from '../../services/domain/texts/code-in-message.ts'

export interface CapturedLog {
  log: Logger
  /** Everything written so far, as text. */
  output(): string
  /** The lines, parsed. */
  lines(): Record<string, unknown>[]
}

export function createCapturedLog(options: Partial<LogOptions> = {}): CapturedLog {
  // services/main.ts does the same at start.
  registerCodePattern(CODE_IN_MESSAGE)
  const written: string[] = []
  const destination = { write: (line: string) => void written.push(line) }
  return {
    log: createLog({ level: 'trace', pretty: false, destination, ...options }),
    output: () => written.join(''),
    lines: () => written.map(line => JSON.parse(line)),
  }
}
