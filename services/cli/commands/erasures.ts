// The journal of erasures: its file is kept beside the backups, and is replayed after one is restored. A file of any length is sent in
// parts.
import { createReadStream } from 'node:fs'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Command } from 'commander'
import { type Api, bodyOf, type Schemas } from '../api.ts'
import { Refused, UsageError, withAdvice } from '../failures.ts'
import { printNote } from '../output.ts'
import { examples, type Session, YES } from '../session.ts'

type Replay = Schemas['ErasureReplay']

/** Far fewer than a call may bring, so that progress is shown. */
const LINES_PER_CALL = 1_000

export function addErasures(program: Command, session: Session): void {
  const erasures = program
    .command('erasures')
    .description('the journal of erasures, for the time after a backup is restored')
  const exporting = erasures
    .command('export')
    .description('print the journal, a line for each erased index')
    .option('--since <time>', 'only erasures that began at this time or later')
    .action(async ({ since }: { since?: string }) => {
      const call = session
        .api()
        .GET('/admin/v1/erasures', { params: { query: { ...(since && { since }) } }, parseAs: 'stream' })
      const lines = (await bodyOf(call)) as unknown as ReadableStream
      await pipeline(Readable.fromWeb(lines), process.stdout, { end: false })
    })
  examples(exporting, 'erasures export > erasures.ndjson')
  const replaying = erasures
    .command('replay <file>')
    .description('erase again what a restored backup brought back; - reads stdin')
    .option(...YES)
    .action(async (file: string, options: { yes?: true }) => {
      await session.confirm('Erase all people again whom this journal names?', options)
      session.showRecord(await replayAll(session.api(), file))
    })
  examples(replaying, 'erasures replay erasures.ndjson')
}

async function replayAll(api: Api, file: string): Promise<Pick<Replay, 'entries' | 'erased'>> {
  let all: Pick<Replay, 'entries' | 'erased'> | undefined
  for await (const { lines, from } of partsOf(file)) {
    const { entries, erased } = await replayPart(api, lines, from)
    all = all ? { entries: all.entries + entries, erased: sum(all.erased, erased) } : { entries, erased }
    printNote(`Replayed: ${all.entries} lines`)
  }
  if (all === undefined) throw new UsageError(`${file} has no lines`)
  return all
}

/** A call may end before its last line. `from`: the number of the first line in the file. */
async function replayPart(
  api: Api,
  lines: readonly string[],
  from: number,
): Promise<Pick<Replay, 'entries' | 'erased'>> {
  const body = lines.join('\n')
  const answer = await bodyOf(
    api.POST('/admin/v1/erasures/replay', {
      body,
      bodySerializer: text => text,
      headers: { 'content-type': 'application/x-ndjson' },
    }),
  ).catch(error => {
    if (!(error instanceof Refused)) throw error
    throw withAdvice(
      error,
      from === 1
        ? 'nothing was erased'
        : `the lines before line ${from} of the file are replayed, and its lines are counted from there`,
    )
  })
  if (answer.next_line === null) return answer
  const done = answer.next_line - 1
  const rest = await replayPart(api, lines.slice(done), from + done)
  return { entries: answer.replayed + rest.entries, erased: sum(answer.erased, rest.erased) }
}

async function* partsOf(file: string): AsyncGenerator<{ lines: string[]; from: number }> {
  const input = file === '-' ? process.stdin : createReadStream(file)
  let [lines, from]: [string[], number] = [[], 1]
  try {
    for await (const line of createInterface({ input })) {
      lines.push(line)
      if (lines.length < LINES_PER_CALL) continue
      yield { lines, from }
      from += lines.length
      lines = []
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new UsageError((error as Error).message)
  }
  if (lines.length > 0) yield { lines, from }
}

const sum = (one: Schemas['Erasure'], other: Schemas['Erasure']): Schemas['Erasure'] =>
  Object.fromEntries(
    Object.entries(one).map(([name, count]) => [name, count + other[name as keyof Schemas['Erasure']]]),
  ) as Schemas['Erasure']
