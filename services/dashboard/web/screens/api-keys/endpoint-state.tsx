// How the endpoint is doing: since when and why it is not called, its failures, and the way back.
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Fact } from '../../ui/fact.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { EndpointAnswer } from './endpoint-answer.tsx'
import { attemptResult, type Endpoint, type Failure, latestFailures, PAUSE_REASONS, remedyOf } from './webhook-text.ts'

export interface EndpointStateProps {
  endpoint: Endpoint
  reload(): Promise<void>
}

export function EndpointState({ endpoint, reload }: EndpointStateProps) {
  const mayChange = useMay('developer')
  const say = useToast()
  const change = useChange()
  const path = { id: endpoint.id }
  const { failures, failing_since, last_success_at, paused } = endpoint

  const enable = () =>
    change.run(async () => {
      await api.POST('/admin/v1/endpoints/{id}/enable', { params: { path } })
      await reload()
      say('The endpoint is called again. What was held is sent, oldest first.')
    })
  const pause = () =>
    change.run(async () => {
      await api.PATCH('/admin/v1/endpoints/{id}', { params: { path }, body: { status: 'paused' } })
      await reload()
      say('The endpoint is not called any more. Its events are held.')
    })

  return (
    <>
      {paused && (
        <Notice tone="warning">
          <p>
            {PAUSE_REASONS[paused.reason]} Since <Time at={paused.at} /> events are held. Mend your endpoint, then
            re-enable it: they are sent, oldest first.
          </p>
          {mayChange && (
            <div class="api-keys-re-enable">
              <Button look="primary" busy={change.busy} onClick={enable}>
                Re-enable
              </Button>
            </div>
          )}
        </Notice>
      )}
      {change.problem && <ProblemNotice problem={change.problem} />}
      <div class="api-keys-facts">
        <dl>
          <Fact name="Last success">
            <Time at={last_success_at} none="none yet" />
          </Fact>
          <Fact name="Failures since then">{failures}</Fact>
          <Fact name="Failing since">
            <Time at={failing_since} none="not failing" />
          </Fact>
        </dl>
        {!paused && mayChange && (
          <Button look="quiet" busy={change.busy} onClick={pause}>
            Pause
          </Button>
        )}
      </div>
      {failures > 0 && <LastFailures of={endpoint} />}
    </>
  )
}

const POLL_MS = 5_000
const SHOWN_FAILURES = 3

/** The events that fail now are among the newest; those that used up their attempts may be older. */
function LastFailures({ of: { id: endpoint_id, app_id } }: { of: Endpoint }) {
  const query = useQuery(
    `failures ${endpoint_id}`,
    async call => {
      const path = { id: app_id }
      const [recent, failed] = await Promise.all([
        bodyOf(api.GET('/admin/v1/apps/{id}/events', { params: { path, query: { limit: 50, endpoint_id } }, ...call })),
        bodyOf(
          api.GET('/admin/v1/apps/{id}/events', {
            params: { path, query: { limit: 10, status: 'failed', endpoint_id } },
            ...call,
          }),
        ),
      ])
      return latestFailures([recent.items, failed.items], SHOWN_FAILURES)
    },
    { everyMs: POLL_MS },
  )
  if (!query.data || query.data.length === 0) return null
  return (
    <section class="api-keys-failures" aria-labelledby="last-failures">
      <h3 id="last-failures">Last failures</h3>
      <ul>
        {query.data.map(failure => (
          <FailureItem key={`${failure.event.id} ${failure.attempt.at}`} of={failure} />
        ))}
      </ul>
    </section>
  )
}

function FailureItem({ of: { event, attempt } }: { of: Failure }) {
  const remedy = remedyOf(attempt)
  return (
    <li>
      <p>
        <strong>{attemptResult(attempt)}</strong>
        <span class="soft">
          {' '}
          when <code>{event.type}</code> was sent, <Time at={attempt.at} />
        </span>
      </p>
      {remedy && <p class="hint">{remedy}</p>}
      <EndpointAnswer text={attempt.response} />
    </li>
  )
}
