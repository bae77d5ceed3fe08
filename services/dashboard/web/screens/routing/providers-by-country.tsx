// How the providers of each channel do in a country, which of them comes first there, and why; and a better order of the list, by the same
// evidence.
import { useState } from 'preact/hooks'
import { CHANNELS } from '../../../../../machines/channels.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { formatMicros } from '../../data/amounts.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Select } from '../../ui/field.tsx'
import { formatCount, formatSeconds, formatShare, NO_FIGURE } from '../../ui/figure-format.ts'
import { IntervalBar } from '../../ui/interval-bar.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Reading } from '../../ui/reading.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { type Provider, savePositions } from '../providers/provider-calls.ts'
import { positionsFor } from '../providers/provider-order.ts'
import { countriesIn, gainWords, movedWords, placeName, STATES, withoutBreaks } from './learned-words.ts'

type Row = Schemas['RouteRow']

/** Facts are made anew every few seconds. */
const REFRESH_MS = 10_000

const COLUMNS: Column<Row>[] = [
  {
    name: 'Provider',
    show: ({ provider, state }) => (
      <div class="routing-provider">
        <b>{provider}</b>
        <Badge tone={STATES[state].tone}>{STATES[state].name}</Badge>
      </div>
    ),
  },
  {
    name: 'Conversion',
    show: ({ conversion, low, high, state }) =>
      conversion === null || low === null || high === null ? (
        <span class="soft">No messages yet</span>
      ) : (
        <IntervalBar share={conversion} low={low} high={high} isBad={state === 'silent'} />
      ),
  },
  { name: 'Messages', align: 'right', show: ({ messages }) => formatCount(messages) },
  { name: 'Approved', align: 'right', show: ({ approved }) => formatCount(approved) },
  { name: 'Time to approval', align: 'right', show: ({ seconds_p50 }) => formatSeconds(seconds_p50) },
  {
    name: 'Cost',
    align: 'right',
    show: ({ cost_micros }) => (cost_micros === null ? NO_FIGURE : formatMicros(cost_micros)),
  },
  { name: 'Share', align: 'right', show: ({ share }) => formatShare(share) },
  { name: 'Why', show: ({ because }) => <span class="routing-because">{withoutBreaks(because)}</span> },
]

export interface ProvidersByCountryProps {
  providers: readonly Provider[]
  /** After the order of the providers was changed. */
  onReordered(): Promise<void>
}

export function ProvidersByCountry({ providers, onReordered }: ProvidersByCountryProps) {
  const app = useApp()
  const [chosen, setChosen] = useState<string | null>(null)
  // The rule that is saved decides about the shares.
  const { providers: rule, worth_micros } = app.settings.routing
  const routes = useQuery(
    `routes ${app.id} ${rule} ${worth_micros}`,
    call => bodyOf(api.GET('/admin/v1/apps/{id}/routes', { params: { path: { id: app.id } }, ...call })),
    { everyMs: REFRESH_MS },
  )
  const rows = routes.data?.items ?? []
  const countries = countriesIn(rows)
  const shown = countries.find(({ key }) => key === chosen) ?? countries[0]
  return (
    <Card
      title="Providers by country"
      lead="Of the messages that a provider accepted, how many led to an approval: of live keys, in the last 30 days, the latest ones counting most. The last message before an approval earns it; the Overview counts a verification for the provider of its first message."
    >
      <Reading of={routes} what="routes" />
      {routes.data?.suggestion && (
        <Suggestion
          suggestion={routes.data.suggestion}
          providers={providers}
          onUsed={async () => {
            await Promise.all([onReordered(), routes.reload()])
          }}
        />
      )}
      {routes.data && !shown && (
        <Empty title="Nothing to compare yet.">
          Providers appear here with the first messages of live keys; test keys do not count. It needs two{' '}
          <ScreenLink to="/providers">providers</ScreenLink> of a channel to compare them, and some 50 messages to a
          country to learn from it.
        </Empty>
      )}
      {shown && (
        <>
          <div class="routing-choose-country">
            <Select
              label="Compare providers in"
              value={shown.key}
              options={countries.map(({ key, country, messages }) => ({
                value: key,
                label: `${placeName(country)} (${formatCount(messages)})`,
              }))}
              onChange={setChosen}
            />
          </div>
          {CHANNELS.map(channel => {
            const ofChannel = shown.rows.filter(row => row.channel === channel)
            return (
              ofChannel.length > 0 && (
                <section key={channel} class="routing-learned" aria-label={CHANNEL_NAMES[channel]}>
                  <h3>{CHANNEL_NAMES[channel]}</h3>
                  <Table
                    caption={`Providers of ${CHANNEL_NAMES[channel]} in ${placeName(shown.country)}`}
                    columns={COLUMNS}
                    rows={ofChannel}
                    keyOf={({ provider }) => provider}
                  />
                </section>
              )
            )
          })}
        </>
      )}
    </Card>
  )
}

interface SuggestionProps {
  suggestion: Schemas['RouteSuggestion']
  providers: readonly Provider[]
  onUsed(): Promise<void>
}

function Suggestion({ suggestion, providers, onUsed }: SuggestionProps) {
  const app = useApp()
  const may = useMay('developer')
  const change = useChange()
  const say = useToast()
  const { channel, order, because } = suggestion
  const use = () =>
    change.run(async () => {
      const all = providers.filter(provider => provider.channel === channel)
      // Afterwards the list is the new one.
      const done = movedWords(
        suggestion,
        all.map(({ name }) => name),
      )
      await savePositions(app.id, all, positionsFor(all, order))
      await onUsed()
      say(done)
    })
  return (
    <Notice>
      <div class="routing-suggestion">
        <p>
          <b>
            A better order for {CHANNEL_NAMES[channel]}: {order.join(', ')}.
          </b>{' '}
          {gainWords(suggestion)} {withoutBreaks(because)}
        </p>
        {may ? (
          <Button busy={change.busy} onClick={use}>
            Use this order
          </Button>
        ) : (
          <p class="hint">{onlyRole('developer', 'change the order')}</p>
        )}
        {change.problem && <ProblemNotice problem={change.problem} />}
      </div>
    </Notice>
  )
}
