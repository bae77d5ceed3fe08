// Connections to one mail server, kept for the next mail. In: mails. Out: each handed over once. At most so many at a time; the others
// wait their turn, and give up when their caller does.
import type { Clock } from '../../../infra/clock.ts'
import type { Mail } from './smtp.mail.ts'
import { type Session, SmtpFailure } from './smtp.session.ts'

export interface PoolParts {
  open(signal: AbortSignal): Promise<Session>
  clock: Pick<Clock, 'after'>
}

/** What big providers allow a client without asking. */
const MOST_CONNECTIONS = 10
/** Some servers hang up on those who stay too long. */
const MOST_MAILS = 100
const IDLE_MS = 15_000

const GOING_AWAY = 421

export interface MailPool {
  handOver(mail: Mail, signal: AbortSignal): Promise<void>
  /** Keeps no connection any longer than its mail takes. */
  close(): void
}

export function mailPool({ open, clock }: PoolParts): MailPool {
  const idle = new Map<Session, () => void>()
  const waiting = new Set<() => void>()
  let inUse = 0
  let closed = false

  async function place(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new SmtpFailure(signal.reason)
    if (inUse < MOST_CONNECTIONS) {
      inUse += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.delete(enter)
        reject(new SmtpFailure(signal.reason))
      }
      signal.addEventListener('abort', leave, { once: true })
      waiting.add(enter)
    })
  }

  /** Whoever waits longest takes the place over. */
  function free(): void {
    const [next] = waiting
    if (next) waiting.delete(next)
    else inUse -= 1
    next?.()
  }

  function takeIdle(): Session | null {
    for (const [session, stay] of [...idle].reverse()) {
      idle.delete(session)
      stay()
      if (session.isOpen()) return session
    }
    return null
  }

  function keep(session: Session): void {
    if (!session.isOpen()) return
    if (closed || session.carried() >= MOST_MAILS) {
      session.quit()
      return
    }
    const cancel = clock.after(IDLE_MS, () => {
      idle.delete(session)
      session.quit()
    })
    idle.set(session, cancel)
  }

  async function carry(mail: Mail, signal: AbortSignal): Promise<void> {
    for (;;) {
      const kept = takeIdle()
      const session = kept ?? (await open(signal))
      try {
        await session.send(mail, signal)
        return keep(session)
      } catch (error) {
        session.close()
        if (!kept || signal.aborted || !hungUp(error)) throw error
        // The server had closed it meanwhile, as servers do: that says nothing about the mail.
      }
    }
  }

  return {
    async handOver(mail, signal) {
      await place(signal)
      try {
        await carry(mail, signal)
      } finally {
        free()
      }
    },
    close() {
      closed = true
      for (const [session, stay] of idle) {
        stay()
        session.quit()
      }
      idle.clear()
    },
  }
}

const hungUp = (error: unknown): boolean =>
  error instanceof SmtpFailure && !error.begun && (error.reply === null || error.reply.code === GOING_AWAY)
