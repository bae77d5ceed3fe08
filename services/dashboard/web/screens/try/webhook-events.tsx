// The webhook events of one verification: what each tells the app's backend, and what became of it at each endpoint.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { useQuery } from '../../data/use-query.ts'
import { Status } from '../../ui/badge.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { bodyText, endpointTitle } from '../api-keys/webhook-text.ts'
import { eventDelivery } from './progress.ts'

export function WebhookEvents({ events }: { events: Schemas['WebhookEvent'][] }) {
  const app = useApp()
  const isForSeveral = new Set(events.map(({ endpoint_id }) => endpoint_id)).size > 1
  const endpoints = useQuery(isForSeveral ? `endpoints ${app.id}` : null, call =>
    bodyOf(api.GET('/admin/v1/apps/{id}/endpoints', { params: { path: { id: app.id } }, ...call })),
  )
  const nameOf = (endpoint_id: string): string => {
    const endpoint = endpoints.data?.items.find(({ id }) => id === endpoint_id)
    return endpoint ? endpointTitle(endpoint) : endpoint_id
  }
  if (events.length === 0)
    return (
      <Empty title="No events yet.">One comes when the message is delivered, and one when the person is proved.</Empty>
    )
  return (
    <>
      <ul class="try-events">
        {events.map(event => (
          <li key={`${event.id} ${event.endpoint_id}`}>
            <header>
              <code>{event.type}</code>
              <Status of={event.status} />
              {isForSeveral && event.endpoint_id && <span>to {nameOf(event.endpoint_id)}</span>}
              <span class="soft">
                <Time at={event.created_at} />
              </span>
            </header>
            <p class="soft">{eventDelivery(event)}</p>
            <details>
              <summary>What your endpoint receives</summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keyboard */}
              <pre tabIndex={0}>
                <code>{bodyText(event)}</code>
              </pre>
            </details>
          </li>
        ))}
      </ul>
      {events.some(({ status }) => status === 'unsent') && (
        <Notice>
          <p>
            Endpoints, and the events that each asks for, are set under <ScreenLink to="/webhooks">Webhooks</ScreenLink>
            . Later events are sent to them.
          </p>
        </Notice>
      )}
    </>
  )
}
