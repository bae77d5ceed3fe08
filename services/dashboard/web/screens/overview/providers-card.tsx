// Whether the app's providers answer. In: GET /apps/{id}/providers with the state of each circuit breaker. Out: those that do not answer.
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
import { LIVE_MS } from './use-stats.ts'

/** What is read of a breaker. Null, or absent, where no process has called the provider lately. */
interface Breaker {
  state: 'closed' | 'open' | 'half_open'
  since?: string | null
}

type Provider = Pick<Schemas['Provider'], 'name' | 'channel'> & { breaker?: Breaker | null }

const isTroubled = ({ breaker }: Provider): boolean => breaker?.state === 'open' || breaker?.state === 'half_open'

export function ProvidersCard({ appId }: { appId: string }) {
  const { data, problem, reload } = useQuery(
    `breakers ${appId}`,
    async signal => {
      const params = { path: { id: appId } }
      const { items } = await bodyOf(api.GET('/admin/v1/apps/{id}/providers', { params, signal }))
      const providers: Provider[] = items
      return { count: providers.length, troubled: providers.filter(isTroubled) }
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
      ) : data.troubled.length === 0 ? (
        <p class="overview-well">
          <Badge tone="good">No provider is paused</Badge> <span class="soft">{countOf(data.count, 'provider')}</span>
        </p>
      ) : (
        <ul class="overview-list">
          {data.troubled.map(provider => (
            <TroubledProvider key={provider.name} {...provider} />
          ))}
        </ul>
      )}
    </Card>
  )
}

function TroubledProvider({ name, channel, breaker }: Provider) {
  return (
    <li>
      <span>
        {name} <span class="soft">{channelName(channel)}</span>
      </span>
      {breaker?.state === 'open' ? (
        <Badge tone="bad">Paused after failures</Badge>
      ) : (
        <Badge tone="warning">Being tried again</Badge>
      )}
      {breaker?.since && (
        <span class="soft">
          since <Time at={breaker.since} />
        </span>
      )}
    </li>
  )
}
