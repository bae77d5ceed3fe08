// A log that keeps its lines, for tests that read them.
import { createLog, type Logger, type LogOptions } from '../../infra/log/log.ts'
import { hideAlso } from '../../infra/log/scrub.ts'
import { SPOKEN_CODE } from '../../services/domain/texts/spoken-codes.ts'

export interface CapturedLog {
  log: Logger
  /** Everything written so far, as it was written. */
  output(): string
  /** The lines, parsed. */
  lines(): Record<string, unknown>[]
}

export function createCapturedLog(options: Partial<LogOptions> = {}): CapturedLog {
  // As services/main.ts does at start.
  hideAlso(SPOKEN_CODE)
  const written: string[] = []
  const destination = { write: (line: string) => void written.push(line) }
  return {
    log: createLog({ level: 'trace', pretty: false, destination, ...options }),
    output: () => written.join(''),
    lines: () => written.map(line => JSON.parse(line)),
  }
}
