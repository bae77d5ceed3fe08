// Whether the app's providers are used. In: GET /apps/{id}/providers with the state of each circuit breaker. Out: those that are paused, by
// hand or after failures.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { channelName } from '../../data/channels.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { countOf } from '../../ui/figure-format.ts'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { PAUSED_WORDS } from '../providers/provider-words.ts'
import { LIVE_MS } from './use-stats.ts'

/** What is read of a breaker. Null, or absent, where no process has called the provider lately. */
interface Breaker {
  state: 'closed' | 'open' | 'half_open'
  since?: string | null
}

type Provider = Pick<Schemas['Provider'], 'name' | 'channel' | 'paused'> & { breaker?: Breaker | null }

const isPaused = ({ paused, breaker }: Provider): boolean =>
  paused || breaker?.state === 'open' || breaker?.state === 'half_open'

export function ProvidersCard({ appId }: { appId: string }) {
  const { data, problem, reload } = useQuery(
    `breakers ${appId}`,
    async signal => {
      const params = { path: { id: appId } }
      const { items } = await bodyOf(api.GET('/admin/v1/apps/{id}/providers', { params, signal }))
      const providers: Provider[] = items
      return { count: providers.length, paused: providers.filter(isPaused) }
    },
    { everyMs: LIVE_MS },
  )
  return (
    <Card title="Providers" actions={<ScreenLink to="/providers">Details</ScreenLink>}>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {data === undefined ? (
        !problem && <Loading what="providers" />
      ) : data.count === 0 ? (
        <Empty title="There is no provider yet.">
          Test sends use the sandbox. Live sends need <ScreenLink to="/providers">a provider</ScreenLink>.
        </Empty>
      ) : data.paused.length === 0 ? (
        <p class="overview-well">
          <Badge tone="good">No provider is paused</Badge> <span class="soft">{countOf(data.count, 'provider')}</span>
        </p>
      ) : (
        <ul class="overview-list">
          {data.paused.map(provider => (
            <PausedProvider key={provider.name} {...provider} />
          ))}
        </ul>
      )}
    </Card>
  )
}

function PausedProvider({ name, channel, paused, breaker }: Provider) {
  return (
    <li>
      <span>
        {name} <span class="soft">{channelName(channel)}</span>
      </span>
      {paused ? (
        <Badge tone={PAUSED_WORDS.tone}>{PAUSED_WORDS.state}</Badge>
      ) : breaker?.state === 'open' ? (
        <Badge tone="bad">Paused after failures</Badge>
      ) : (
        <Badge tone="warning">Being tried again</Badge>
      )}
      {!paused && breaker?.since && (
        <span class="soft">
          since <Time at={breaker.since} />
        </span>
      )}
    </li>
  )
}
