// The webhook of the app: where events go, how they are signed, and what became of them. In: the endpoint, read again every few seconds, so
// that a pause shows while one looks.
import { api, bodyOf, type CallOptions } from '../../api/client.ts'
import { unlessGone, useApp } from '../../data/tenant.tsx'
import { usePolling } from '../../data/use-polling.ts'
import { useQuery } from '../../data/use-query.ts'
import { useShownOnce } from '../../data/use-shown-once.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Reading } from '../../ui/reading.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { EndpointState } from './endpoint-state.tsx'
import { Events } from './events.tsx'
import { Signatures } from './signatures.tsx'
import { TestEvent } from './test-event.tsx'
import type { Endpoint } from './webhook-text.ts'

const POLL_MS = 3_000

export function Webhook() {
  const app = useApp()
  const [secret, setSecret] = useShownOnce(`signing secret of ${app.id}`)
  const query = useQuery(`webhook ${app.id}`, call => endpointOf(app.id, call))
  const endpoint = query.data ?? null
  usePolling(query.poll, endpoint === null ? null : POLL_MS)

  return (
    <>
      <Card
        title="Webhook"
        lead={
          <>
            Events of test and live mode are sent to your backend, as signed POST requests. An app can have{' '}
            <ScreenLink to="/webhooks">several endpoints</ScreenLink>; this is the oldest.
          </>
        }
        actions={endpoint && <EndpointBadge of={endpoint} />}
      >
        <Reading of={query} what="the webhook" />
        {query.data !== undefined && (
          <EndpointForm
            endpoint={endpoint}
            findFirst={async () => {
              const found = await endpointOf(app.id)
              query.replace(found)
              return found !== null
            }}
            onSaved={async made => {
              if (made !== null) setSecret(made)
              await query.reload()
            }}
          />
        )}
        {endpoint && (
          <>
            <EndpointState endpoint={endpoint} reload={query.reload} />
            <TestEvent key={endpoint.id} endpoint={endpoint} />
          </>
        )}
      </Card>
      {endpoint && <Signatures endpoint={endpoint} secret={secret} onSecret={setSecret} reload={query.reload} />}
      <Events hasEndpoint={endpoint !== null} />
    </>
  )
}

/** No other text of the screen has these words, so that the state is found by them. */
export function EndpointBadge({ of: { status } }: { of: Endpoint }) {
  return status === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="warning">Paused</Badge>
}

const endpointOf = (id: string, call?: CallOptions): Promise<Endpoint | null> =>
  unlessGone(bodyOf(api.GET('/admin/v1/apps/{id}/webhook', { params: { path: { id } }, ...call })))
