// `tail` shows verifications as they happen. It polls the list, and prints a line for each one that is new or has changed since the poll
// before. It compares with times of the server only, so that a wrong clock here hides nothing.
import { setTimeout as wait } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { type Api, bodyOf, type Schemas, takeItems } from '../api.ts'
import { isServerAway } from '../failures.ts'
import { parseCount } from '../options.ts'
import { printable, printLine, printNote } from '../output.ts'
import { examples, type Session } from '../session.ts'

type Verification = Schemas['VerificationRecord']

interface TailOptions {
  app?: string
  mode?: Schemas['Mode']
  interval: number
}

/** Changes of older verifications are not shown. A code is valid for 10 minutes unless it is set otherwise. */
const WATCHED_MS = 15 * 60_000
/** In one poll. */
const MAX_READ = 1_000

export function addTail(program: Command, session: Session): void {
  const tail = program
    .command('tail')
    .description('show verifications as they happen, until Control-C')
    .option('--app <id>', 'only those of one app')
    .addOption(new Option('--mode <mode>', 'only those').choices(['test', 'live']))
    .option('--interval <seconds>', 'between two looks', parseCount, 2)
    .action(async ({ app, mode, interval }: TailOptions) => {
      const api = session.api()
      const filters = { ...(app && { app_id: app }), ...(mode && { mode }) }
      const show = (one: Verification): void => printLine(session.isJson() ? JSON.stringify(one) : lineOf(one))
      const watched = createWatch()
      watched.update(await read(api, filters, null))
      printNote('Waiting for verifications…')
      for (;;) {
        await wait(interval * 1_000)
        try {
          for (const one of watched.update(await read(api, filters, watched.since()))) show(one)
        } catch (error) {
          // A restart of the server does not end it.
          if (!isServerAway(error)) throw error
          printNote(error.message)
        }
      }
    })
  examples(tail, 'tail', 'tail --app app_… --mode live', 'tail --json | jq .status')
}

/** Newest first. Without `since`: to know what was there before. */
const read = (api: Api, filters: object, since: string | null): Promise<Verification[]> =>
  takeItems(MAX_READ, query =>
    bodyOf(
      api.GET('/admin/v1/verifications', { params: { query: { ...query, ...filters, ...(since && { since }) } } }),
    ),
  )

function createWatch() {
  let known = new Map<string, { state: string; at: number }>()
  return {
    /** Those that are new or changed, oldest first. */
    update(newestFirst: readonly Verification[]): Verification[] {
      const changed = newestFirst.filter(one => known.get(one.otp_id)?.state !== stateOf(one)).reverse()
      for (const one of changed) known.set(one.otp_id, { state: stateOf(one), at: Date.parse(one.created_at) })
      const newest = Math.max(...[...known.values()].map(({ at }) => at))
      known = new Map([...known].filter(([, { at }]) => at >= newest - WATCHED_MS))
      return changed
    },
    since(): string {
      const oldest = Math.min(...[...known.values()].map(({ at }) => at))
      return new Date(Number.isFinite(oldest) ? oldest : 0).toISOString()
    },
  }
}

const stateOf = ({ status, channel, sends, wrong_codes, deliveries }: Verification): string =>
  JSON.stringify([status, channel, sends, wrong_codes, deliveries.map(one => one.status)])

function lineOf({
  otp_id,
  status,
  masked_recipient,
  country,
  mode,
  wrong_codes,
  deliveries,
  ...one
}: Verification): string {
  const latest = deliveries.at(-1)
  const at = [one.verified_at, latest?.updated_at, one.created_at]
    .filter(time => typeof time === 'string')
    .sort()
    .at(-1)
  const message = latest === undefined ? one.channel : `${latest.channel} ${latest.status}`
  const wrong = wrong_codes > 0 ? [`${wrong_codes} wrong`] : []
  return [at, otp_id, mode, status.padEnd(8), masked_recipient, country ?? '-', message, ...wrong]
    .map(printable)
    .join('  ')
}
