// Simulates a mail server on loopback by RFC 5321: accepts mails, and fails on demand at any stage.
import { Buffer } from 'node:buffer'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { CERTIFICATE, KEY } from '../certificate.ts'
import { type ParsedMail, parseMail } from './mime.ts'

/** Where a fault happens: at a command, `within` the mail itself, or after all of its `body` has arrived. */
export type Stage = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'within' | 'body'

/** `says` sends a reply (`550 5.1.1 …`). `does` hangs until `release`, resets the connection or closes it. */
type SmtpFault = { at: Stage; does: 'hang' | 'reset' | 'close' } | { at: Stage; says: string }

interface ReceivedMail extends ParsedMail {
  from: string
  to: string[]
  raw: Buffer
  /** The number of its connection, from 1. */
  session: number
  encrypted: boolean
  user: string | null
}

export interface MailServer {
  port: number
  mails: ReceivedMail[]
  /** The commands of all connections in order, without credentials. */
  commands: string[]
  connectionsMade(): number
  connectionsOpen(): number
  /** Sets the faults of the next connections that reach the stage, in this order. */
  next(...faults: SmtpFault[]): void
  /** Sends the replies that hang. */
  release(): void
  /** Closes all connections, as a restart would. */
  hangUp(): void
  close(): Promise<void>
}

export interface MailServerOptions {
  /** TLS from the first byte, or STARTTLS. Default: neither. */
  tls?: 'secure' | 'starttls'
  auth?: { user: string; pass: string }
  /** RFC 2920. Default: true. */
  pipelining?: boolean
}

const secureContext = createSecureContext({ cert: CERTIFICATE, key: KEY })

export async function startMailServer({ tls, auth, pipelining = true }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const commands: string[] = []
  const faults: SmtpFault[] = []
  const heldReplies = new Set<() => void>()
  const sockets = new Set<Socket>()
  let made = 0

  const server = createServer({ noDelay: true }, socket => {
    made += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    const session = made
    if (tls === 'secure') talk(encrypted(socket), session, true)
    else talk(socket, session, false)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))

  const encrypted = (socket: Socket): TLSSocket =>
    new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {})

  function talk(socket: Socket, session: number, secured: boolean, greeted = false): void {
    let buffered = Buffer.alloc(0)
    let mode: 'commands' | 'mail' | 'user' | 'pass' = 'commands'
    let [from, to, user]: [string, string[], string | null] = ['', [], null]
    const say = (line: string): void => void socket.write(`${line}\r\n`)

    /** Replies with the line, unless a fault is set for this stage. */
    function answer(at: Stage, line: string, afterReply: () => void = () => {}): void {
      const fault = faults[0]?.at === at ? faults.shift() : undefined
      const reply = (): void => {
        say(line)
        afterReply()
      }
      if (!fault) reply()
      else if ('says' in fault) say(fault.says)
      else if (fault.does === 'hang') heldReplies.add(reply)
      else if (fault.does === 'reset') socket.resetAndDestroy()
      else socket.end()
    }

    function extensions(): string {
      const offered = ['SIZE 1000000', '8BITMIME', ...(pipelining ? ['PIPELINING'] : [])]
      if (tls === 'starttls' && !secured) offered.push('STARTTLS')
      if (auth) offered.push('AUTH PLAIN LOGIN')
      return ['mail.test', ...offered].map((line, at) => `250${at === offered.length ? ' ' : '-'}${line}`).join('\r\n')
    }

    function login(name: string, pass: string): void {
      mode = 'commands'
      const isRight = name === auth?.user && pass === auth.pass
      answer('auth', isRight ? '235 2.7.0 Welcome' : '535 5.7.8 Authentication credentials invalid', () => {
        user = isRight ? name : null
      })
    }

    function runCommand(line: string): void {
      const [, verb = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
      const name = verb.toUpperCase()
      commands.push(name === 'AUTH' ? line.split(' ').slice(0, 2).join(' ') : line)
      if (name === 'EHLO') answer('ehlo', extensions())
      else if (name === 'HELO') answer('ehlo', '250 mail.test')
      else if (name === 'STARTTLS' && tls === 'starttls')
        answer('starttls', '220 2.0.0 Go ahead', () => {
          socket.removeAllListeners('data')
          talk(encrypted(socket), session, true, true)
        })
      else if (name === 'AUTH' && rest.startsWith('PLAIN ')) {
        const [, given = '', pass = ''] = Buffer.from(rest.slice(6), 'base64').toString().split('\0')
        login(given, pass)
      } else if (name === 'MAIL' && auth && user === null) say('530 5.7.0 Authentication required')
      else if (name === 'MAIL')
        answer('mail', '250 2.1.0 Ok', () => {
          ;[from, to] = [addressIn(rest), []]
        })
      else if (name === 'RCPT') answer('rcpt', '250 2.1.5 Ok', () => to.push(addressIn(rest)))
      else if (name === 'DATA' && to.length === 0) say('503 5.5.1 RCPT first')
      else if (name === 'DATA')
        answer('data', '354 Go ahead', () => {
          mode = 'mail'
        })
      else if (name === 'RSET' || name === 'NOOP') say('250 2.0.0 Ok')
      else if (name === 'QUIT') {
        say('221 2.0.0 Bye')
        socket.end()
      } else say('502 5.5.2 Not known here')
    }

    function acceptMail(raw: Buffer): void {
      mode = 'commands'
      const unstuffed = Buffer.from(raw.toString('latin1').replaceAll(/^\.(?=\.)/gm, ''), 'latin1')
      const mail = { ...parseMail(unstuffed), from, to, raw: unstuffed, session, encrypted: secured, user }
      const isRefused = faults[0]?.at === 'body' && 'says' in faults[0]
      if (!isRefused) mails.push(mail)
      ;[from, to] = ['', []]
      answer('body', '250 2.0.0 Queued as 4F1D2')
    }

    socket.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk])
      for (;;) {
        const terminator = mode === 'mail' ? '\r\n.\r\n' : '\r\n'
        const end = buffered.indexOf(terminator)
        if (mode === 'mail' && faults[0]?.at === 'within' && buffered.length > 0) return answer('within', '')
        if (end < 0) return
        const input = buffered.subarray(0, end)
        buffered = buffered.subarray(end + terminator.length)
        if (mode === 'mail') acceptMail(Buffer.concat([input, Buffer.from('\r\n')]))
        else runCommand(input.toString())
      }
    })
    if (!greeted) answer('connect', '220 mail.test ESMTP')
  }

  return {
    port: (server.address() as AddressInfo).port,
    mails,
    commands,
    connectionsMade: () => made,
    connectionsOpen: () => sockets.size,
    next: (...more) => void faults.push(...more),
    release: () => {
      for (const reply of heldReplies) reply()
      heldReplies.clear()
    },
    hangUp: () => sockets.forEach(socket => void socket.end()),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

const addressIn = (argument: string): string => /<([^<>]*)>/.exec(argument)?.[1] ?? ''
