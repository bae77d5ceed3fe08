// `listen` hands the events of an app to an address that only this machine reaches. The server signs them with a secret
// that this program has made; nothing is stored there about it, so there is nothing to remove at the end.
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { bodyOf, callServer, reasonOf, type Schemas } from '../api.ts'
import { isServerAway, UsageError } from '../failures.ts'
import { printable, printLine, printNote } from '../output.ts'
import { parseUrl } from '../profile.ts'
import { examples, type Session } from '../session.ts'

type SignedEvent = Schemas['SignedEvent']

interface ListenOptions {
  secret?: string
}

const SECRET_VARIABLE = 'COUNTERSIGN_WEBHOOK_SECRET'
const POLL_MS = 1_000
/** An event may be stored this long after it happened. */
const LATE_MS = 60_000
const MAX_KNOWN = 1_000
/** A receiver that is being written fails often. Its next start gets the event again. */
const MAX_TRIES = 5
const RECEIVER_TIMEOUT_MS = 15_000

export function addListen(program: Command, session: Session): void {
  const listen = program
    .command('listen <app> <address>')
    .description('hand the events of an app to a local address, until Control-C')
    .addOption(
      new Option('--secret <secret>', 'that signs, - reads it from stdin; a new one by default').env(SECRET_VARIABLE),
    )
    .action(async (id: string, address: string, { secret: given }: ListenOptions) => {
      const target = parseUrl(address)
      if (given && given !== '-' && listen.getOptionValueSource('secret') === 'cli')
        printNote(
          `Other users of this machine can read --secret in its list of processes: use ${SECRET_VARIABLE}, or --secret - and stdin.`,
        )
      const secret = given === '-' ? await readSecret() : given || newSecret()
      const api = session.api()
      const fetchEvents = async (since: number, known: string[]): Promise<SignedEvent[]> => {
        const body = { secret, since: new Date(since).toISOString(), known }
        const call = api.POST('/admin/v1/apps/{id}/events/fetch', { params: { path: { id } }, body })
        return (await bodyOf(call)).events
      }
      const inbox = createInbox(await serverTime(session.connection().url))
      for (let old = await inbox.read(fetchEvents); old.length > 0; old = await inbox.read(fetchEvents))
        for (const event of old) inbox.finish(event)
      if (!given) printNote(`Signing secret: ${secret}`)
      printNote(`Events of ${id} go to ${target}.`)
      for (;;) {
        await wait(POLL_MS)
        for (const event of await inbox.read(fetchEvents).catch(waitForServer)) {
          const { line, isAccepted } = await handOver(event, target)
          printLine(session.isJson() ? JSON.stringify({ ...event, isAccepted }) : line)
          if (isAccepted) inbox.finish(event)
          else inbox.fail(event)
        }
      }
    })
  examples(
    listen,
    'listen app_… http://localhost:4000/hooks',
    'listen app_… http://localhost:4000/hooks --secret - < secret',
  )
}

async function readSecret(): Promise<string> {
  const secret = (await text(process.stdin)).trim()
  if (secret === '') throw new UsageError('--secret - found no secret on stdin')
  return secret
}

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** The clock of the server, so that a wrong clock here loses nothing. */
async function serverTime(url: string): Promise<number> {
  const { headers } = await callServer(`${url}/healthz`)
  return Date.parse(headers.get('date') ?? '') || Date.now()
}

/** A restart of the server does not end it. */
function waitForServer(error: unknown): SignedEvent[] {
  if (!isServerAway(error)) throw error
  printNote(error.message)
  return []
}

/** Knows which events were handed over, and from when on events may still come. */
function createInbox(startedAt: number) {
  let since = startedAt - LATE_MS
  let finished = new Map<string, number>()
  const tries = new Map<string, number>()
  return {
    read: (fetchEvents: (since: number, known: string[]) => Promise<SignedEvent[]>): Promise<SignedEvent[]> =>
      fetchEvents(since, [...finished.keys()]),
    finish({ id, created_at }: SignedEvent): void {
      const at = Date.parse(created_at)
      finished.set(id, at)
      tries.delete(id)
      since = Math.max(since, at - LATE_MS)
      const recent = [...finished].filter(([, time]) => time >= since - LATE_MS).slice(-MAX_KNOWN)
      finished = new Map(recent)
      // With more events a minute than can be named, late ones are missed rather than handed over twice.
      if (recent.length === MAX_KNOWN) since = Math.max(since, recent[0]?.[1] ?? since)
    },
    fail(event: SignedEvent): void {
      const count = (tries.get(event.id) ?? 0) + 1
      tries.set(event.id, count)
      if (count >= MAX_TRIES) this.finish(event)
    },
  }
}

async function handOver({ id, type, headers, body, created_at }: SignedEvent, target: string) {
  const signal = AbortSignal.timeout(RECEIVER_TIMEOUT_MS)
  const answer = await fetch(target, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
    async response => {
      await response.arrayBuffer()
      return response.status
    },
    error => reasonOf(error),
  )
  const isAccepted = typeof answer === 'number' && answer >= 200 && answer < 300
  return { isAccepted, line: [created_at, type, id, '→', answer].map(printable).join('  ') }
}
