import { type Command, Option } from 'commander'
import { bodyOf, type Schemas, takeItems } from '../api.ts'
import { addLimit, type LimitOption } from '../options.ts'
import { examples, type Session } from '../session.ts'

type Status = Schemas['WebhookEventStatus'] & ('failed' | 'held')

const STATUSES: Status[] = ['failed', 'held']

interface ListOptions extends LimitOption {
  status?: Status
  otp?: string
}

interface RangeOptions {
  since: string
  until?: string
  endpoint?: string
}

const ENDPOINT = ['--endpoint <id>', 'only to this endpoint'] as const

export function addEvents(program: Command, session: Session): void {
  const events = program.command('events').description('the webhook events of an app')
  addLimit(events.command('list <app>').description('newest first'))
    .addOption(new Option('--status <status>', 'only those').choices(STATUSES))
    .option('--otp <otp_id>', 'only those of one verification')
    .action(async (id: string, { limit, status, otp }: ListOptions) => {
      const api = session.api()
      const filters = { ...(status && { status }), ...(otp && { otp_id: otp }) }
      const items = await takeItems(limit, query =>
        bodyOf(api.GET('/admin/v1/apps/{id}/events', { params: { path: { id }, query: { ...query, ...filters } } })),
      )
      session.showList(items, {
        ID: event => event.id,
        TYPE: ({ type }) => type,
        AT: ({ created_at }) => created_at,
        STATUS: event => event.status,
        ATTEMPTS: ({ attempts }) => attempts.length,
        LAST: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error,
      })
    })
  events
    .command('replay <event>')
    .description('send one event again')
    .option(...ENDPOINT)
    .action(async (id: string, { endpoint }: { endpoint?: string }) => {
      const body = { ...(endpoint && { endpoint_id: endpoint }) }
      const event = await bodyOf(session.api().POST('/admin/v1/events/{id}/replay', { params: { path: { id } }, body }))
      session.showDone(`${id} is sent again.`, event)
    })
  events
    .command('replay-range <app>')
    .description('send the events of a time again')
    .requiredOption('--since <time>', 'ISO 8601, inclusive')
    .option('--until <time>', 'ISO 8601; now by default')
    .option(...ENDPOINT)
    .action(async (id: string, { since, until, endpoint }: RangeOptions) => {
      const body = { since, ...(until && { until }), ...(endpoint && { endpoint_id: endpoint }) }
      const call = session.api().POST('/admin/v1/apps/{id}/events/replay', { params: { path: { id } }, body })
      const result = await bodyOf(call)
      session.showDone(`${result.replayed} events are sent again.`, result)
    })
  examples(
    events,
    'events list app_… --status failed',
    'events replay evt_…',
    'events replay-range app_… --since 2030-01-01T12:00:00Z --until 2030-01-01T13:00:00Z',
  )
}
