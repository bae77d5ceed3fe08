// The list of queues.
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { countOf } from '../../ui/figure-format.ts'
import { Notice } from '../../ui/notice.tsx'
import { RowActions, Table } from '../../ui/table.tsx'
import { consumingRole, countWords, isStuck, oldestWords, owedWords, type Queue } from './queue-figures.ts'

export interface QueueTableProps {
  queues: readonly Queue[]
  /** Whose dead letters are shown. */
  chosen: string | null
  onChoose(queue: string): void
}

export function QueueTable({ queues, chosen, onChoose }: QueueTableProps) {
  const stuck = queues.filter(isStuck)
  return (
    <>
      {stuck.map(({ queue, ready }) => (
        <Notice key={queue} tone="warning">
          {countOf(ready ?? 0, 'message')} in <code>{queue}</code>, and nothing takes them. Start the role{' '}
          <code>{consumingRole(queue)}</code>, or see in <code>/readyz</code> why it is paused.
        </Notice>
      ))}
      <div class="queues-list">
        <Table
          caption="Queues"
          rows={queues}
          keyOf={({ queue }) => queue}
          columns={[
            {
              name: 'Queue',
              show: ({ queue, broker_name }) => (
                <span class="queues-name">
                  <code>{queue}</code>
                  {broker_name !== null && <code class="soft">{broker_name}</code>}
                </span>
              ),
            },
            { name: 'Ready', align: 'right', show: ({ ready }) => countWords(ready) },
            { name: 'Oldest', align: 'right', show: queue => <span class="soft">{oldestWords(queue)}</span> },
            { name: 'Owed', align: 'right', show: ({ owed }) => countWords(owed) },
            {
              name: 'Waits',
              align: 'right',
              show: queue => <span class="soft">{owedWords(queue)}</span>,
            },
            {
              name: 'Consumers',
              align: 'right',
              show: ({ consumers }) => (consumers === 0 ? <Badge tone="warning">0</Badge> : countWords(consumers)),
            },
            {
              name: 'Dead',
              align: 'right',
              show: ({ dead }) => ((dead ?? 0) > 0 ? <Badge tone="bad">{countWords(dead)}</Badge> : countWords(dead)),
            },
            {
              name: 'Dead letters',
              quiet: true,
              show: ({ queue, dead }) =>
                ((dead ?? 0) > 0 || queue === chosen) && (
                  <RowActions>
                    <Button
                      look="quiet"
                      aria-label={`Show dead letters of ${queue}`}
                      aria-pressed={queue === chosen}
                      onClick={() => onChoose(queue)}
                    >
                      Show
                    </Button>
                  </RowActions>
                ),
            },
          ]}
        />
      </div>
    </>
  )
}
