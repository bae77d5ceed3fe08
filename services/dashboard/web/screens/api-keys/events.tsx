// The events of the app, newest first, with what became of each, and ways to send them again.
import { useState } from 'preact/hooks'
import { MODES } from '../../../../../machines/otp.ts'
import { WEBHOOK_EVENT_TYPES } from '../../../../../machines/webhook-events.ts'
import { api, bodyOf } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { anyOf, type Filter, type FilterValues, onlySet, useAddressFilters } from '../../data/use-address-filters.ts'
import { useChange } from '../../data/use-change.ts'
import { usePages } from '../../data/use-pages.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { FilterForm } from '../../ui/filter-form.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { NothingYet, Pager } from '../../ui/paged-table.tsx'
import { Reading } from '../../ui/reading.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { EventsTable } from './events-table.tsx'
import { ReplayRange } from './replay-range.tsx'
import { type Endpoint, EVENT_STATUSES, type WebhookEvent } from './webhook-text.ts'

const POLL_MS = 3_000

type FilterName = 'type' | 'status' | 'mode' | 'id' | 'since' | 'until'

const FILTERS: readonly Filter<FilterName>[] = [
  { name: 'type', label: 'Type', options: anyOf([...WEBHOOK_EVENT_TYPES, 'webhook.test']) },
  { name: 'status', label: 'Status', options: anyOf(Object.keys(EVENT_STATUSES)) },
  { name: 'mode', label: 'Mode', options: anyOf(MODES) },
  { name: 'id', label: 'Verification or event', placeholder: 'otp_…, evt_…' },
  { name: 'since', label: 'Since', isTime: true },
  { name: 'until', label: 'Until', isTime: true },
]

type EventQuery = NonNullable<paths['/admin/v1/apps/{id}/events']['get']['parameters']['query']>

/** An address leaves out what the API would refuse, so its texts are the API's own. */
function eventQuery(values: FilterValues<FilterName>): EventQuery {
  const { id, ...others } = values
  const ids = id.startsWith('evt_') ? { event_id: id, otp_id: '' } : { event_id: '', otp_id: id }
  return onlySet({ ...others, ...ids }) as EventQuery
}

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
  const [values, setFilters] = useAddressFilters(FILTERS)
  const [choosingRange, setChoosingRange] = useState(false)
  const only = endpoint ? { endpoint_id: endpoint.id } : {}
  const filters: EventQuery = { ...only, ...eventQuery(values) }
  const path = { id: app.id }
  // One call, and no more where it finds nothing: a poll must stay cheap.
  const pages = usePages(
    `events ${app.id} ${JSON.stringify(filters)}`,
    (page, call) =>
      bodyOf(api.GET('/admin/v1/apps/{id}/events', { params: { path, query: { ...filters, ...page } }, ...call })),
    { everyMs: POLL_MS },
  )

  const replay = (event: WebhookEvent) =>
    change.run(async () => {
      // The row says to which endpoint; an event that none was told of goes to those that ask for it.
      const body = event.endpoint_id === null ? {} : { endpoint_id: event.endpoint_id }
      await api.POST('/admin/v1/events/{id}/replay', { params: { path: { id: event.id } }, body })
      await pages.reload()
      say('The event is sent again.')
    })
  const { data, reload } = pages
  const mayReplay = mayChange && hasEndpoint
  const isFiltered = Object.keys(onlySet(values)).length > 0

  return (
    <Card
      title="Events"
      lead="What your backend was told, and how it answered."
      actions={
        <>
          <ExportButton
            key={JSON.stringify(filters)}
            read={(asCsv, from) =>
              api.GET('/admin/v1/apps/{id}/events', { params: { path, query: { ...filters, ...from } }, ...asCsv })
            }
          />
          {mayReplay && <Button onClick={() => setChoosingRange(true)}>Send a time range again</Button>}
        </>
      }
    >
      {(isFiltered || (data && data.items.length > 0)) && (
        <FilterForm filters={FILTERS} values={values} onChange={setFilters} />
      )}
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Reading of={pages} what="events" />
      {data && data.items.length > 0 && (
        <EventsTable events={data.items} {...(mayReplay ? { onReplay: replay, replaying: change.busy } : {})} />
      )}
      <NothingYet pages={pages} />
      {data && data.items.length === 0 && !pages.next && <NoEvents isFiltered={isFiltered} hasEndpoint={hasEndpoint} />}
      <Pager pages={pages} of="events" />
      {choosingRange && <ReplayRange only={only} onReplayed={reload} onClose={() => setChoosingRange(false)} />}
    </Card>
  )
}

function NoEvents({ isFiltered, hasEndpoint }: { isFiltered: boolean; hasEndpoint: boolean }) {
  const mayTry = useMay('developer')
  if (isFiltered) return <Empty title="No event matches the filters." />
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
