// A pool of connections to one mail server. In: a mail. Out: the server accepted it, or an error. The number of connections is limited;
// further mails wait for one until their caller aborts.
import type { Clock } from '../../../infra/clock.ts'
import type { Mail } from './smtp.mail.ts'
import { type Session, SmtpFailure } from './smtp.session.ts'

export interface PoolDeps {
  open(signal: AbortSignal): Promise<Session>
  clock: Pick<Clock, 'after'>
}

/** As many as large mail providers allow by default. */
const MAX_CONNECTIONS = 10
/** Some servers close connections that have sent many mails. */
const MAX_MAILS_PER_CONNECTION = 100
const IDLE_MS = 15_000

/** The reply of a server that closes the connection. */
const CLOSING_CONNECTION = 421

export interface MailPool {
  send(mail: Mail, signal: AbortSignal): Promise<void>
  /** Closes idle connections now, and the others after their mail. */
  close(): void
}

export function createMailPool({ open, clock }: PoolDeps): MailPool {
  const idle = new Map<Session, () => void>()
  const waiting = new Set<() => void>()
  let inUse = 0
  let closed = false

  async function acquireSlot(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new SmtpFailure(signal.reason)
    if (inUse < MAX_CONNECTIONS) {
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

  /** The mail that waits longest takes over the slot. */
  function releaseSlot(): void {
    const [next] = waiting
    if (next) waiting.delete(next)
    else inUse -= 1
    next?.()
  }

  function takeIdle(): Session | null {
    for (const [session, cancelIdleTimer] of [...idle].reverse()) {
      idle.delete(session)
      cancelIdleTimer()
      if (session.isOpen()) return session
    }
    return null
  }

  function returnToIdle(session: Session): void {
    if (!session.isOpen()) return
    if (closed || session.mailsSent() >= MAX_MAILS_PER_CONNECTION) {
      session.quit()
      return
    }
    const cancel = clock.after(IDLE_MS, () => {
      idle.delete(session)
      session.quit()
    })
    idle.set(session, cancel)
  }

  async function sendOnSession(mail: Mail, signal: AbortSignal): Promise<void> {
    for (;;) {
      const reused = takeIdle()
      const session = reused ?? (await open(signal))
      try {
        await session.send(mail, signal)
        return returnToIdle(session)
      } catch (error) {
        session.close()
        if (!reused || signal.aborted || !isHangUp(error)) throw error
        // The server had closed the idle connection. The mail was not sent, so it goes out on another one.
      }
    }
  }

  return {
    async send(mail, signal) {
      await acquireSlot(signal)
      try {
        await sendOnSession(mail, signal)
      } finally {
        releaseSlot()
      }
    },
    close() {
      closed = true
      for (const [session, cancelIdleTimer] of idle) {
        cancelIdleTimer()
        session.quit()
      }
      idle.clear()
    },
  }
}

const isHangUp = (error: unknown): boolean =>
  error instanceof SmtpFailure &&
  !error.bodyStarted &&
  (error.reply === null || error.reply.code === CLOSING_CONNECTION)
