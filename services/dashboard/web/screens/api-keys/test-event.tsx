// Sends a test event, and says what came of it as soon as it is known.
import { useState } from 'preact/hooks'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { usePolling } from '../../data/use-polling.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { EndpointAnswer } from './endpoint-answer.tsx'
import { type Endpoint, testResult } from './webhook-text.ts'

/** Until the first attempt, then until the last. */
const FIRST_POLL_MS = 400
const RETRY_POLL_MS = 3_000

export function TestEvent({ endpoint }: { endpoint: Endpoint }) {
  const mayChange = useMay('developer')
  const change = useChange()
  const [eventId, setEventId] = useState<string | null>(null)
  if (!mayChange) return null
  const send = () =>
    change.run(async () => {
      const { event_id } = await bodyOf(
        api.POST('/admin/v1/endpoints/{id}/test', { params: { path: { id: endpoint.id } } }),
      )
      setEventId(event_id)
    })
  return (
    <div class="api-keys-test-event">
      <div class="actions">
        <Button busy={change.busy} onClick={send}>
          Send test event
        </Button>
        <span class="hint">A harmless webhook.test, signed and repeated like any other event.</span>
      </div>
      {change.problem && <ProblemNotice problem={change.problem} />}
      {eventId && <Result key={eventId} of={eventId} />}
    </div>
  )
}

function Result({ of: id }: { of: string }) {
  const query = useQuery(`event ${id}`, call =>
    bodyOf(api.GET('/admin/v1/events/{id}', { params: { path: { id } }, ...call })),
  )
  const result = query.data ? testResult(query.data) : null
  const isPending = query.data === undefined || query.data.status === 'pending' || query.data.status === 'held'
  const everyMs = result === null ? FIRST_POLL_MS : RETRY_POLL_MS
  usePolling(query.poll, isPending && query.problem === null ? everyMs : null)
  if (query.problem) return <ProblemNotice problem={query.problem} onRetry={query.reload} />
  if (result === null) return <Notice>The test event is on its way…</Notice>
  return (
    <Notice tone={result.tone}>
      <p>
        {result.sentence}
        {query.data?.status === 'pending' && query.data.next_attempt_at && (
          <>
            {' '}
            It is sent again: <Time at={query.data.next_attempt_at} />.
          </>
        )}
      </p>
      {result.tone === 'bad' && <EndpointAnswer text={query.data?.attempts.at(-1)?.response ?? null} />}
    </Notice>
  )
}
