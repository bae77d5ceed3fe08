// The events of the app, newest first, with what became of each, and ways to send them again.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { usePages } from '../../data/use-pages.ts'
import { usePolling } from '../../data/use-polling.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Select } from '../../ui/field.tsx'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Pager } from '../../ui/paged-table.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { EventsTable } from './events-table.tsx'
import { ReplayRange } from './replay-range.tsx'
import type { Endpoint, WebhookEvent } from './webhook-text.ts'

const POLL_MS = 3_000

type StatusFilter = 'all' | 'failed' | 'held'

const FILTERS: readonly { value: StatusFilter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'failed', label: 'Failed' },
  { value: 'held', label: 'Held' },
]

export interface EventsProps {
  hasEndpoint: boolean
  /** Where only its events are shown. */
  of?: Endpoint
}

export function Events({ hasEndpoint, of: endpoint }: EventsProps) {
  const app = useApp()
  const mayChange = useMay('developer')
  const say = useToast()
  const change = useChange()
  const [filter, setFilter] = useState<StatusFilter>('all')
  const [choosingRange, setChoosingRange] = useState(false)
  const only = endpoint ? { endpoint_id: endpoint.id } : {}
  const pages = usePages(`events ${endpoint?.id ?? app.id} ${filter}`, (page, signal) => {
    const query = { ...page, ...only, ...(filter === 'all' ? {} : { status: filter }) }
    return bodyOf(api.GET('/admin/v1/apps/{id}/events', { params: { path: { id: app.id }, query }, signal }))
  })
  usePolling(pages.reload, POLL_MS)

  const replay = (event: WebhookEvent) =>
    change.run(async () => {
      // The row says to which endpoint; an event that none was told of goes to those that ask for it.
      const body = event.endpoint_id === null ? {} : { endpoint_id: event.endpoint_id }
      await api.POST('/admin/v1/events/{id}/replay', { params: { path: { id: event.id } }, body })
      await pages.reload()
      say('The event is sent again.')
    })
  const { data, problem, reload } = pages
  const mayReplay = mayChange && hasEndpoint

  return (
    <Card
      title="Events"
      lead="What your backend was told, and how it answered."
      actions={mayReplay && <Button onClick={() => setChoosingRange(true)}>Send a time range again</Button>}
    >
      {(filter !== 'all' || (data && data.items.length > 0)) && (
        <div class="api-keys-filter">
          <Select label="Status" options={FILTERS} value={filter} onChange={value => setFilter(value)} />
        </div>
      )}
      {change.problem && <ProblemNotice problem={change.problem} />}
      {data === undefined && problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {data === undefined && !problem && <Loading what="events" />}
      {data && data.items.length > 0 && (
        <EventsTable events={data.items} {...(mayReplay ? { onReplay: replay, replaying: change.busy } : {})} />
      )}
      {data && data.items.length === 0 && <NoEvents filter={filter} hasEndpoint={hasEndpoint} />}
      <Pager pages={pages} of="events" />
      {choosingRange && <ReplayRange only={only} onReplayed={reload} onClose={() => setChoosingRange(false)} />}
    </Card>
  )
}

function NoEvents({ filter, hasEndpoint }: { filter: StatusFilter; hasEndpoint: boolean }) {
  const mayTry = useMay('developer')
  if (filter !== 'all') return <Empty title={filter === 'failed' ? 'No event has failed.' : 'No event is held.'} />
  if (!mayTry) return <Empty title="Nothing has happened yet." />
  return (
    <Empty title="Nothing has happened yet.">
      {hasEndpoint
        ? 'Send a test event, or finish a verification on '
        : 'Set an endpoint, then finish a verification on '}
      <ScreenLink to="/try">Try it</ScreenLink>.
    </Empty>
  )
}
