// One event in full: what its status means, every attempt with the endpoint's answer, and the body.
import { isSuccess } from '../../../../../machines/endpoint.ts'
import { verificationPath } from '../../../screens.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { EndpointAnswer } from './endpoint-answer.tsx'
import { type Attempt, attemptResult, bodyText, EVENT_STATUSES, type WebhookEvent } from './webhook-text.ts'

export function EventDetails({ of: event }: { of: WebhookEvent }) {
  const { id, endpoint_id, status, attempts, payload, next_attempt_at } = event
  return (
    <div class="api-keys-details">
      <div>
        <h3>{attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}</h3>
        <p class="soft">
          {EVENT_STATUSES[status].meaning}
          {status === 'pending' && next_attempt_at && (
            <>
              {' '}
              Next attempt: <Time at={next_attempt_at} />.
            </>
          )}
        </p>
        {attempts.length > 0 && (
          <ol class="api-keys-attempts">
            {attempts.toReversed().map(attempt => (
              <AttemptItem key={`${attempt.round} ${attempt.attempt}`} of={attempt} />
            ))}
          </ol>
        )}
      </div>
      <div>
        <CodeBlock label="Body" text={bodyText(event)} />
        <p class="hint">
          <code>{id}</code>
          {endpoint_id && (
            <>
              {' to '}
              <code>{endpoint_id}</code>
            </>
          )}
          {payload.otp_id && (
            <>
              {' · '}
              <ScreenLink to={verificationPath(payload.otp_id)}>See the verification</ScreenLink>
            </>
          )}
        </p>
      </div>
    </div>
  )
}

function AttemptItem({ of: attempt }: { of: Attempt }) {
  return (
    <li class={isSuccess(attempt) ? 'good' : 'bad'}>
      <p>
        <strong>{attemptResult(attempt)}</strong>
        <span class="soft">
          {' '}
          <Time at={attempt.at} />
          {attempt.round > 1 && `, replay ${attempt.round - 1}`}
        </span>
      </p>
      <EndpointAnswer text={attempt.response} />
    </li>
  )
}
