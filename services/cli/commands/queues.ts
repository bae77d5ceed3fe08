import type { Command } from 'commander'
import { bodyOf, takeItems } from '../api.ts'
import { UsageError } from '../failures.ts'
import { addLimit, type LimitOption } from '../options.ts'
import { examples, type Session, YES } from '../session.ts'

interface Choice {
  all?: true
}

const ALL = ['--all', 'every dead letter of the queue'] as const

export function addQueues(program: Command, session: Session): void {
  const queues = program.command('queues').description('queues, and messages that could not be handled (dead letters)')
  queues
    .command('list')
    .description('how much waits in each queue, and who takes it')
    .action(async () => {
      session.showList(await bodyOf(session.api().GET('/admin/v1/queues')), {
        QUEUE: ({ queue }) => queue,
        READY: ({ ready }) => ready,
        'OLDEST MS': ({ oldest_ms }) => oldest_ms,
        OWED: ({ owed }) => owed,
        'OWED S': ({ owed_oldest_seconds }) => owed_oldest_seconds,
        CONSUMERS: ({ consumers }) => consumers,
        DEAD: ({ dead }) => dead,
      })
    })
  addLimit(queues.command('dead <queue>').description('its dead letters')).action(
    async (queue: string, { limit }: LimitOption) => {
      const api = session.api()
      const items = await takeItems(limit, query =>
        bodyOf(api.GET('/admin/v1/queues/{queue}/dead', { params: { path: { queue }, query } })),
      )
      session.showList(items, {
        ID: ({ id }) => id,
        AT: ({ at }) => at,
        ATTEMPTS: ({ attempts }) => attempts,
        REASON: ({ reason }) => reason,
      })
    },
  )
  queues
    .command('requeue <queue> [ids...]')
    .description('try dead letters again')
    .option(...ALL)
    .action(async (queue: string, ids: string[], choice: Choice) => {
      const request = { params: { path: { queue } }, body: chosen(ids, choice) }
      const result = await bodyOf(session.api().POST('/admin/v1/queues/{queue}/dead/requeue', request))
      session.showDone(`${result.requeued} are tried again.`, result)
    })
  queues
    .command('drop <queue> [ids...]')
    .description('forget dead letters')
    .option(...ALL)
    .option(...YES)
    .action(async (queue: string, ids: string[], choice: Choice & { yes?: true }) => {
      const body = chosen(ids, choice)
      await session.confirm(`Forget ${choice.all ? 'all' : ids.length} dead letters of ${queue} for good?`, choice)
      const request = { params: { path: { queue } }, body }
      const result = await bodyOf(session.api().POST('/admin/v1/queues/{queue}/dead/drop', request))
      session.showDone(`${result.dropped} are dropped.`, result)
    })
  examples(queues, 'queues list', 'queues dead webhook.deliver', 'queues requeue webhook.deliver --all')
}

function chosen(ids: string[], { all }: Choice): { ids: string[] } | { all: true } {
  if ((all === true) === ids.length > 0) throw new UsageError('name the ids of dead letters, or --all')
  return all ? { all } : { ids }
}
