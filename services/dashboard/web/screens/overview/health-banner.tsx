// Says at the top of the overview why messages or events do not leave now. In: GET /apps/{id}/health, and for operators the queues.
import { linkToScreen } from '../../../screens.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useQuery } from '../../data/use-query.ts'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { deadLetterTroubles, type Trouble, troubleOf } from './health-words.ts'
import { LIVE_MS } from './use-stats.ts'

export interface HealthBannerProps {
  appId: string
  /** Empty for those who may not see them. */
  queues: readonly Schemas['Queue'][]
}

export function HealthBanner({ appId, queues }: HealthBannerProps) {
  const isOperator = useMay('operator')
  const { data, problem, reload } = useQuery(
    `health ${appId}`,
    call => bodyOf(api.GET('/admin/v1/apps/{id}/health', { params: { path: { id: appId } }, ...call })),
    { everyMs: LIVE_MS },
  )
  const causes = data?.causes ?? []
  const troubles = [...causes.map(cause => troubleOf(cause, isOperator)), ...deadLetterTroubles(queues)]
  return (
    <>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {troubles.length > 0 && (
        <Notice tone="bad">
          <ul class="overview-troubles" aria-label="What is wrong now">
            {troubles.map(trouble => (
              <TroubleItem key={trouble.text} {...trouble} />
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}

const TroubleItem = ({ text, since, screen, query }: Trouble) => (
  <li>
    {text}{' '}
    {since !== null && (
      <>
        Since <Time at={since} />.{' '}
      </>
    )}
    <ScreenLink to={screen + query}>{linkToScreen(screen)}</ScreenLink>
  </li>
)
