// One connection to a mail server. In: an address that may be called. Out: a session that hands over one mail after the other, or a
// failure that says at which step and whether the mail itself was on its way by then: before, it certainly did not go.
import { Readable } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Mail } from './smtp.mail.ts'

export interface SessionOptions {
  /** The checked address to connect to, not looked up again. */
  address: string
  /** The name the certificate must be for; null when the server is known by its address alone. */
  servername: string | null
  port: number
  secure: boolean
  /** No TLS, no mail. */
  tlsRequired: boolean
  auth: { user: string; pass: string } | null
  trust: Pick<ConnectionOptions, 'ca'>
}

export interface Session {
  isOpen(): boolean
  /** Mails handed over so far. */
  mailsSent(): number
  send(mail: Mail, signal: AbortSignal): Promise<void>
  /** With a word to the server. */
  quit(): void
  /** At once. */
  close(): void
}

/** Whatever kept a mail from being taken. */
export class SmtpFailure extends Error {
  override name = 'SmtpFailure'
  /** What the server was asked: `RCPT TO`, `DATA`, …; null when it was not asked anything. */
  readonly command: string | null
  /** The code it answered, with the enhanced one where there is one; null when it said nothing readable. */
  readonly reply: { code: number; enhanced: string | null } | null
  /** The mail itself was on its way. */
  readonly bodyStarted: boolean
  constructor(cause: unknown, { bodyStarted = false }: { bodyStarted?: boolean } = {}) {
    const { command = null, response = '' } = (cause ?? {}) as { command?: string; response?: string }
    const reply = replyOf(response)
    // Of what the server wrote, the codes alone: it likes to repeat the recipient.
    super(reply ? `it answered ${reply.code}${reply.enhanced ? ` ${reply.enhanced}` : ''}` : 'the connection failed')
    this.command = command
    this.reply = reply
    this.bodyStarted = bodyStarted
  }
}

/** More than any call has: the caller's signal ends it earlier. */
const MAX_STEP_MS = 60_000

export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { address, servername, port, secure, tlsRequired, auth, trust } = options
  const connection = new SMTPConnection({
    host: address,
    port,
    secure,
    requireTLS: tlsRequired && !secure,
    tls: trust,
    ...(servername === null ? {} : { servername }),
    connectionTimeout: MAX_STEP_MS,
    greetingTimeout: MAX_STEP_MS,
    socketTimeout: MAX_STEP_MS,
    maxResponseSize: 65_536,
  })
  let open = true
  let mailsSent = 0
  connection.on('end', () => {
    open = false
  })
  // Told to whoever waits, below. When nobody does, the server hung up on an idle connection.
  connection.on('error', () => {})

  /** Ends with the step, the connection or the caller's patience, whichever is first. */
  function step(begin: (done: (error?: unknown) => void) => void, within: AbortSignal, bodyStarted = () => false) {
    return new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        within.removeEventListener('abort', abort)
        connection.off('error', fail)
        connection.off('end', ended)
      }
      const fail = (error: unknown): void => {
        settle()
        connection.close()
        reject(new SmtpFailure(error, { bodyStarted: bodyStarted() }))
      }
      const abort = (): void => fail(within.reason)
      // A moment later: the server's last word may still be on its way to `done`.
      const ended = (): void => queueMicrotask(() => fail(null))
      within.addEventListener('abort', abort)
      connection.once('error', fail)
      connection.once('end', ended)
      if (within.aborted) return abort()
      begin(error => {
        if (error) return fail(error)
        settle()
        resolve()
      })
    })
  }

  await step(done => connection.connect(done), signal)
  if (auth) await step(done => connection.login(auth, done), signal)

  return {
    isOpen: () => open,
    mailsSent: () => mailsSent,
    quit: () => connection.quit(),
    close: () => connection.close(),
    async send({ from, to, bytes }, within) {
      let bodyStarted = false
      // Read when the server has taken sender and recipient and waits for the mail, not before.
      const body = new Readable({
        read() {
          bodyStarted = true
          this.push(bytes)
          this.push(null)
        },
      })
      const envelope = { from, to: [to], size: bytes.length }
      await step(
        done => connection.send(envelope, body, error => done(error ?? undefined)),
        within,
        () => bodyStarted,
      )
      mailsSent += 1
    },
  }
}

function replyOf(response: unknown): SmtpFailure['reply'] {
  const [, code, enhanced = null] =
    /^([2-5]\d{2})(?:[ -]([245]\.\d{1,3}\.\d{1,3})\b)?/.exec(typeof response === 'string' ? response : '') ?? []
  return code === undefined ? null : { code: Number(code), enhanced }
}
