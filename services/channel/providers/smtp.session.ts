// One connection to a mail server. In: an address that was checked. Out: a session that sends one mail after the other, or an error that
// names the failed command and says whether the body of the mail was being sent. Before the body, the mail was certainly not sent.
import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Mail } from './smtp.mail.ts'

export interface SessionOptions {
  /** The IP address that was checked; it is not looked up again. */
  address: string
  /** The name that the certificate must be for; null when the config names the server by its address. */
  servername: string | null
  port: number
  secure: boolean
  /** Refuses to go on without TLS. */
  tlsRequired: boolean
  auth: { user: string; pass: string } | null
  /** The only trusted certificate authority, in place of the usual ones. */
  ca: string | undefined
}

export interface Session {
  isOpen(): boolean
  mailsSent(): number
  send(mail: Mail, signal: AbortSignal): Promise<void>
  /** Says QUIT to the server, then closes the connection. */
  quit(): void
  /** Closes the connection at once. */
  close(): void
}

/** Why a mail was not accepted. */
export class SmtpFailure extends Error {
  override name = 'SmtpFailure'
  /** The command that failed: `RCPT TO`, `DATA`, …; null when no command had been sent. */
  readonly command: string | null
  /** The server's reply code, the enhanced code if it gave one, and its text; null when there was no readable reply. The text often repeats
   *  the recipient, so it must not be logged. */
  readonly reply: { code: number; enhanced: string | null; text: string } | null
  /** Whether the body of the mail was being sent. */
  readonly bodyStarted: boolean
  constructor(
    cause: unknown,
    { bodyStarted = false, tlsRequired = false }: { bodyStarted?: boolean; tlsRequired?: boolean } = {},
  ) {
    const { command = null, response = '', originalCode = '' } = (cause ?? {}) as Partial<ConnectionError>
    const reply = replyOf(response)
    super(tlsProblem(command, reply, originalCode, tlsRequired) ?? summaryOf(reply))
    this.command = command
    this.reply = reply
    this.bodyStarted = bodyStarted
  }
}

/** What nodemailer's errors hold. */
interface ConnectionError {
  command: string
  response: string
  /** The code of OpenSSL or of the socket. */
  originalCode: string
}

/** Only the codes of the reply: its text often repeats the recipient. */
const summaryOf = (reply: SmtpFailure['reply']): string =>
  reply ? `it answered ${reply.code}${reply.enhanced ? ` ${reply.enhanced}` : ''}` : 'the connection failed'

const NO_TLS = 'it does not offer TLS, which a mail server on the public internet must'

/** Codes of OpenSSL and Node for a certificate that cannot be verified or is for another name. */
const CERTIFICATE_CODE = /CERT|SELF_SIGNED|UNABLE_TO_|ISSUER/

/** Null when the reason is not TLS. */
function tlsProblem(
  command: string | null,
  reply: SmtpFailure['reply'],
  originalCode: string,
  tlsRequired: boolean,
): string | null {
  // STARTTLS is sent unoffered when TLS is required. A server that does not know EHLO has no STARTTLS either.
  if (tlsRequired && reply !== null && reply.code >= 500 && (command === 'STARTTLS' || command === 'EHLO'))
    return NO_TLS
  if (CERTIFICATE_CODE.test(originalCode)) return 'its certificate cannot be verified for its name'
  return originalCode.startsWith('ERR_SSL_') ? 'it does not speak TLS on this port' : null
}

/** Longer than any call lasts: the caller's signal ends it earlier. */
const MAX_STEP_MS = 60_000

export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { address, servername, port, secure, tlsRequired, auth, ca } = options
  const connection = new SMTPConnection({
    host: address,
    port,
    secure,
    requireTLS: tlsRequired && !secure,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
    tls: { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
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
  // Errors during a step are handled in `step`. An error between steps means that the server has closed an idle connection.
  connection.on('error', () => {})

  /** Ends with the step itself, with the connection or with the caller's signal. */
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
        reject(new SmtpFailure(error, { bodyStarted: bodyStarted(), tlsRequired }))
      }
      const abort = (): void => fail(within.reason)
      // Deferred, because the server's last reply may not have reached `begin`'s callback yet.
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
      // The stream is read only after the server has accepted the sender and the recipient.
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
  return code === undefined ? null : { code: Number(code), enhanced, text: textOf(String(response)) }
}

/** Each line of a reply begins with its codes. */
const textOf = (response: string): string =>
  response.replace(/^[2-5]\d{2}[ -]?(?:[245]\.\d{1,3}\.\d{1,3}(?= |$))?/gm, '').trim()
