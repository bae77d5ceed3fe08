// The broker's queues, for operators: what waits, what consumes, what died. The dead letters of one queue are shown below the list; which
// one stands in the address.
import { useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api, bodyOf } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useQuery } from '../../data/use-query.ts'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Reading } from '../../ui/reading.tsx'
import { Screen } from '../../ui/screen.tsx'
import { Updated } from '../../ui/updated.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { QueueTable } from './queue-table.tsx'
import './queues.css'

const LIVE_MS = 5_000

export default function Queues() {
  if (!useMay('operator'))
    return (
      <Screen title="Queues">
        <Notice>Queues carry the messages of all companies. {onlyRole('operator', 'see them')}</Notice>
      </Screen>
    )
  return <OperatorQueues />
}

function OperatorQueues() {
  const { path, query, route } = useLocation()
  const queues = useQuery(
    'queues',
    async call => ({ queues: await bodyOf(api.GET('/admin/v1/queues', call)), at: Date.now() }),
    { everyMs: LIVE_MS },
  )
  const { data, reload } = queues
  // Without a queue in the address: the first that had dead letters, so that the trouble is on the screen at once. It stays there when its
  // letters are gone.
  const first = useRef<string | undefined>(undefined)
  first.current ??= data?.queues.find(({ dead }) => (dead ?? 0) > 0)?.queue
  const chosen = data?.queues.find(({ queue }) => queue === (query.queue ?? first.current))
  const choose = (queue: string) => route(`${path}?queue=${encodeURIComponent(queue)}`, true)
  return (
    <Screen
      title="Queues"
      lead="Between the parts of Countersign, work waits in queues. A dead letter is a message that could not be handled: it is kept for you, and not tried again until you requeue it. Owed are the deliveries and events that could be sent now, wherever their messages are."
      actions={data && <Updated at={data.at} />}
    >
      <Reading of={queues} what="the queues" />
      {data && (
        <>
          <Card title="All queues">
            <QueueTable queues={data.queues} chosen={chosen?.queue ?? null} onChoose={choose} />
          </Card>
          {chosen ? (
            <DeadLetters key={chosen.queue} queue={chosen.queue} dead={chosen.dead ?? 0} onChanged={reload} />
          ) : (
            <Empty title="No dead letters.">Every message was handled, or waits for its turn.</Empty>
          )}
        </>
      )}
    </Screen>
  )
}
