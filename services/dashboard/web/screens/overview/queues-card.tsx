// For operators: what waits in the queues, and what died there.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { type Query, useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { countOf } from '../../ui/figure-format.ts'
import { Reading } from '../../ui/reading.tsx'
import { LIVE_MS } from './use-stats.ts'

/** Read only for operators. */
export const useQueues = (isOperator: boolean): Query<Schemas['Queue'][]> =>
  useQuery(isOperator ? 'queues' : null, call => bodyOf(api.GET('/admin/v1/queues', call)), {
    everyMs: LIVE_MS,
  })

export function QueuesCard({ queues }: { queues: Query<Schemas['Queue'][]> }) {
  const { data } = queues
  const busy = data?.filter(({ ready, dead }) => (ready ?? 0) + (dead ?? 0) > 0)
  return (
    <Card title="Queues" actions={<a href="/queues">Details</a>}>
      <Reading of={queues} what="queues" />
      {busy?.length === 0 && (
        <p class="overview-well">
          <Badge tone="good">Nothing waits</Badge>{' '}
          <span class="soft">{countOf(data?.length ?? 0, 'queue')}, no dead letters</span>
        </p>
      )}
      {busy && busy.length > 0 && (
        <ul class="overview-list">
          {busy.map(({ queue, ready, dead }) => (
            <li key={queue}>
              <code>{queue}</code>
              <span class="soft">{(ready ?? 0) > 0 && `${countOf(ready ?? 0, 'message')} waiting`}</span>
              {(dead ?? 0) > 0 && (
                <a href={`/queues?queue=${queue}`}>
                  <Badge tone="bad">{countOf(dead ?? 0, 'dead letter')}</Badge>
                </a>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
