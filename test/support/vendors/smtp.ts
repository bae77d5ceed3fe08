// A mail server, simulated: takes mails on loopback as RFC 5321 has it, and misbehaves on demand at any step.
import { Buffer } from 'node:buffer'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createSecureContext, TLSSocket } from 'node:tls'
import { CERTIFICATE, KEY } from '../certificate.ts'
import { type ParsedMail, parseMail } from './mime.ts'

/** Where something goes wrong: at a command, within the mail itself, or once all of it is there. */
export type Stage = 'connect' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'within' | 'body'

/** A reply (`550 5.1.1 …`), silence until `release`, or the end of the connection, broken or not. */
export type SmtpFault = { at: Stage; does: 'hang' | 'reset' | 'close' } | { at: Stage; says: string }

export interface ReceivedMail extends ParsedMail {
  from: string
  to: string[]
  raw: Buffer
  /** Which connection it came by, from 1. */
  session: number
  encrypted: boolean
  user: string | null
}

export interface MailServer {
  port: number
  mails: ReceivedMail[]
  /** All commands, of all connections, in order; what was logged in with is left out. */
  commands: string[]
  /** Connections made so far, and those that are open. */
  connectionsMade(): number
  connectionsOpen(): number
  /** What the next ones to come that far meet, in this order. */
  next(...troubles: SmtpFault[]): void
  /** Ends every silence with the answer that was due. */
  release(): void
  /** Ends all connections, as a restart would. */
  hangUp(): void
  close(): Promise<void>
}

export interface MailServerOptions {
  /** TLS from the first byte; STARTTLS on offer; neither unless told. */
  tls?: 'secure' | 'starttls'
  auth?: { user: string; pass: string }
  /** Which RFC 2920 servers offer; true unless told. */
  pipelining?: boolean
}

const context = createSecureContext({ cert: CERTIFICATE, key: KEY })

export async function startMailServer({ tls, auth, pipelining = true }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const commands: string[] = []
  const troubles: SmtpFault[] = []
  const heldAnswers = new Set<() => void>()
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
    new TLSSocket(socket, { isServer: true, secureContext: context }).on('error', () => {})

  function talk(socket: Socket, session: number, secured: boolean, greeted = false): void {
    let buffered = Buffer.alloc(0)
    let mode: 'commands' | 'mail' | 'user' | 'pass' = 'commands'
    let [from, to, user]: [string, string[], string | null] = ['', [], null]
    const say = (line: string): void => void socket.write(`${line}\r\n`)

    /** Goes on with the answer unless there is trouble. */
    function answer(at: Stage, line: string, then: () => void = () => {}): void {
      const trouble = troubles[0]?.at === at ? troubles.shift() : undefined
      const goOn = (): void => {
        say(line)
        then()
      }
      if (!trouble) goOn()
      else if ('says' in trouble) say(trouble.says)
      else if (trouble.does === 'hang') heldAnswers.add(goOn)
      else if (trouble.does === 'reset') socket.resetAndDestroy()
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
      const right = name === auth?.user && pass === auth.pass
      answer('auth', right ? '235 2.7.0 Welcome' : '535 5.7.8 Authentication credentials invalid', () => {
        user = right ? name : null
      })
    }

    function runCommand(line: string): void {
      const [, verb = '', rest = ''] = /^(\S+) ?(.*)$/.exec(line) ?? []
      const name = verb.toUpperCase()
      commands.push(name === 'AUTH' ? line.split(' ').slice(0, 2).join(' ') : line)
      if (name === 'EHLO') answer('ehlo', extensions())
      else if (name === 'HELO') answer('ehlo', '250 mail.test')
      else if (name === 'STARTTLS')
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

    function take(raw: Buffer): void {
      mode = 'commands'
      const unstuffed = Buffer.from(raw.toString('latin1').replaceAll(/^\.(?=\.)/gm, ''), 'latin1')
      const mail = { ...parseMail(unstuffed), from, to, raw: unstuffed, session, encrypted: secured, user }
      const refused = troubles[0]?.at === 'body' && 'says' in troubles[0]
      if (!refused) mails.push(mail)
      ;[from, to] = ['', []]
      answer('body', '250 2.0.0 Queued as 4F1D2')
    }

    socket.on('data', (chunk: Buffer) => {
      buffered = Buffer.concat([buffered, chunk])
      for (;;) {
        const mark = mode === 'mail' ? '\r\n.\r\n' : '\r\n'
        const end = buffered.indexOf(mark)
        if (mode === 'mail' && troubles[0]?.at === 'within' && buffered.length > 0) return answer('within', '')
        if (end < 0) return
        const taken = buffered.subarray(0, end)
        buffered = buffered.subarray(end + mark.length)
        if (mode === 'mail') take(Buffer.concat([taken, Buffer.from('\r\n')]))
        else runCommand(taken.toString())
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
    next: (...more) => void troubles.push(...more),
    release: () => {
      for (const goOn of heldAnswers) goOn()
      heldAnswers.clear()
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
