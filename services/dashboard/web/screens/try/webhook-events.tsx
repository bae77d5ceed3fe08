// The webhook events of one verification: what each tells the app's backend, and what became of it.
import type { Schemas } from '../../api/client.ts'
import { Status } from '../../ui/badge.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { eventDelivery } from './progress.ts'

export function WebhookEvents({ events }: { events: Schemas['WebhookEvent'][] }) {
  if (events.length === 0)
    return (
      <Empty title="No events yet.">One comes when the message is delivered, and one when the person is proved.</Empty>
    )
  return (
    <>
      <ul class="try-events">
        {events.map(event => (
          <li key={event.id}>
            <header>
              <code>{event.type}</code>
              <Status of={event.status} />
              <span class="soft">
                <Time at={event.created_at} />
              </span>
            </header>
            <p class="soft">{eventDelivery(event)}</p>
            <details>
              <summary>What your endpoint receives</summary>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keyboard */}
              <pre tabIndex={0}>
                <code>{JSON.stringify({ id: event.id, type: event.type, payload: event.payload }, null, 2)}</code>
              </pre>
            </details>
          </li>
        ))}
      </ul>
      {events.some(({ status }) => status === 'unsent') && (
        <Notice>
          <p>
            This app has no webhook endpoint yet. Set one under <ScreenLink to="/api-keys">API Keys</ScreenLink>, and
            later events are sent to it.
          </p>
        </Notice>
      )}
    </>
  )
}
