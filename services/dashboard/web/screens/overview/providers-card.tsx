// Whether the app's providers are used. In: GET /apps/{id}/providers with the state of each circuit breaker. Out: those that are paused, by
// hand or after failures, and those whose type this release does not know.
import { channelName } from '../../data/channels.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { countOf } from '../../ui/figure-format.ts'
import { Reading } from '../../ui/reading.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { isKnown, listProviders, type Provider } from '../providers/provider-calls.ts'
import { PAUSED_WORDS, UNKNOWN_TYPE_WORDS } from '../providers/provider-words.ts'
import { LIVE_MS } from './use-stats.ts'

const isPaused = ({ paused, breaker }: Provider): boolean =>
  paused || breaker?.state === 'open' || breaker?.state === 'half_open'

export function ProvidersCard({ appId }: { appId: string }) {
  const query = useQuery(`breakers ${appId}`, call => listProviders(appId, call), { everyMs: LIVE_MS })
  return (
    <Card title="Providers" actions={<ScreenLink to="/providers">Details</ScreenLink>}>
      <Reading of={query} what="providers" />
      {query.data && <UnusedProviders providers={query.data} />}
    </Card>
  )
}

function UnusedProviders({ providers }: { providers: readonly Provider[] }) {
  const unused = providers.filter(provider => !isKnown(provider) || isPaused(provider))
  if (providers.length === 0)
    return (
      <Empty title="There is no provider yet.">
        Test sends use the sandbox. Live sends need <ScreenLink to="/providers">a provider</ScreenLink>.
      </Empty>
    )
  if (unused.length === 0)
    return (
      <p class="overview-well">
        <Badge tone="good">No provider is paused</Badge>{' '}
        <span class="soft">{countOf(providers.length, 'provider')}</span>
      </p>
    )
  return (
    <ul class="overview-list">
      {unused.map(provider => (
        <UnusedProvider key={provider.name} provider={provider} />
      ))}
    </ul>
  )
}

function UnusedProvider({ provider }: { provider: Provider }) {
  const { name, channel, paused, breaker } = provider
  const isUnknown = !isKnown(provider)
  return (
    <li>
      <span>
        {name} <span class="soft">{channelName(channel)}</span>
      </span>
      {isUnknown ? (
        <Badge tone={UNKNOWN_TYPE_WORDS.tone}>{UNKNOWN_TYPE_WORDS.state}</Badge>
      ) : paused ? (
        <Badge tone={PAUSED_WORDS.tone}>{PAUSED_WORDS.state}</Badge>
      ) : breaker?.state === 'open' ? (
        <Badge tone="bad">Paused after failures</Badge>
      ) : (
        <Badge tone="warning">Being tried again</Badge>
      )}
      {!isUnknown && !paused && breaker && (
        <span class="soft">
          since <Time at={breaker.since} />
        </span>
      )}
    </li>
  )
}
