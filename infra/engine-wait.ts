// Says that an engine does not answer. In: what its adapter meets while it connects, and that its watch has lost it.
// Out: a log line after the first second of a process, or at once for an engine that is lost later, and one every ten
// seconds after that, until the engine answers. Each names the engine, its hosts without credentials, why, and what to
// do.
import type { Clock } from './clock.ts'
import type { Logger } from './log/log.ts'
import { scrub } from './log/scrub.ts'

export interface EngineWait {
  /** Called for every failure to connect. The latest is the reason that the next line gives. */
  failed(error: unknown): void
  /** The engine has answered: no more lines until it is lost. */
  answered(): void
  /** It answers no more. */
  lost(): void
  stop(): void
}

export interface EngineWaitDeps {
  /** As people call it. */
  engine: string
  /** The variable that names it. */
  setting: string
  hosts: readonly string[]
  clock: Clock
  log: Pick<Logger, 'info' | 'warn'>
}

const FIRST_LINE_MS = 1_000
const NEXT_LINE_MS = 10_000
/** What failed longer ago is not the reason that an engine is lost now. */
const REASON_MS = 30_000

export function createEngineWait({ engine, setting, hosts, clock, log }: EngineWaitDeps): EngineWait {
  let since = clock.now()
  let why = 'it has not answered yet'
  let failedAt = since
  let said = false
  let stopped = false
  let waits = true
  let cancel = clock.after(FIRST_LINE_MS, sayAndGoOn)

  function sayAndGoOn(): void {
    said = true
    const remedy = `this process keeps trying: start ${engine}, or correct ${setting}`
    log.warn({ engine, setting, hosts, why, remedy, waited_ms: clock.now() - since }, 'engine.awaited')
    cancel = clock.after(NEXT_LINE_MS, sayAndGoOn)
  }

  return {
    failed(error) {
      why = explain(error)
      failedAt = clock.now()
    },
    answered() {
      if (!waits || stopped) return
      waits = false
      cancel()
      if (said) log.info({ engine, hosts, waited_ms: clock.now() - since }, 'engine.answered')
    },
    lost() {
      if (waits || stopped) return
      waits = true
      since = clock.now()
      if (since - failedAt > REASON_MS) why = 'it does not answer'
      sayAndGoOn()
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}

const EXPLANATIONS: readonly [RegExp, string][] = [
  [/ECONNREFUSED/, 'it refuses connections: it does not run there, or on another port'],
  [/ENOTFOUND|EAI_AGAIN|EAI_NODATA/, 'there is no such host'],
  [/ACCESS.REFUSED|authentication failed|bad auth/i, 'it refuses the user or the password'],
  [/vhost/i, 'it has no such virtual host, or the user may not use it'],
  [/certificate|self.signed/i, 'its certificate is not trusted'],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed out|no connection within/i, 'it cannot be reached: no answer came'],
]

/** In plain words, without a stack. The words of a driver may quote a URL with its password, so they are scrubbed. */
export function explain(error: unknown): string {
  const text = textOf(error)
  return EXPLANATIONS.find(([pattern]) => pattern.test(text))?.[1] ?? scrub(text.split('\n')[0] ?? '')
}

/** Node reports several addresses of one name that all failed in an error without a message of its own. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const parts = error instanceof AggregateError ? error.errors : []
  const code = 'code' in error ? String(error.code) : ''
  return [error.message, code, ...parts.map(textOf)].filter(part => part !== '').join('; ')
}
