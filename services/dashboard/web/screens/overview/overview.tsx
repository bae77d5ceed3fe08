// What happened: figures and charts of a period, refusals, and whether providers and queues work. It reads itself again
// while it is visible.
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { Screen } from '../../ui/screen.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Updated } from '../../ui/updated.tsx'
import { Charts } from './charts.tsx'
import { type Choice, MODE_OPTIONS, queryOf, RANGE_OPTIONS, rangeWords, readChoice, SPLIT_OPTIONS } from './choice.ts'
import { isEmpty, sumRows } from './figures.ts'
import { FirstSteps, NothingHere } from './first-steps.tsx'
import { Headline } from './headline.tsx'
import { HealthBanner } from './health-banner.tsx'
import { MessagesCard } from './messages-card.tsx'
import { partsOf, RANGES, startsOf } from './period.ts'
import { ProvidersCard } from './providers-card.tsx'
import { QueuesCard, useQueues } from './queues-card.tsx'
import { RefusalsCard } from './refusals-card.tsx'
import { fillBuckets, splitRows } from './split.ts'
import { SplitTable } from './split-table.tsx'
import { type Stats, useHasSends, useStats } from './use-stats.ts'
import './overview.css'

export default function Overview() {
  const app = useApp()
  const isOperator = useMay('operator')
  const queues = useQueues(isOperator)
  const { path, query, route } = useLocation()
  const choice = readChoice(query)
  const { stats, isOld, ...reading } = useStats(app.id, choice)
  const view = useView(stats)
  const hasSends = useHasSends(app.id, view?.isEmpty === true)
  const change = (changed: Partial<Choice>) => route(path + queryOf({ ...choice, ...changed }), true)
  const isKnown = view !== undefined && (!view.isEmpty || hasSends.data !== undefined)
  const isNew = view?.isEmpty === true && hasSends.data === false
  const problem = reading.problem ?? hasSends.problem
  const retry = () => {
    void reading.reload()
    void hasSends.reload()
  }

  return (
    <Screen
      title="Overview"
      lead={`What happened in ${app.name}, as it happens.`}
      actions={stats && <Updated at={stats.at} />}
    >
      <HealthBanner appId={app.id} queues={queues.data ?? []} />
      {problem && <ProblemNotice problem={problem} onRetry={retry} />}
      {isNew ? (
        <FirstSteps appName={app.name} />
      ) : (
        <>
          <div class="overview-choice">
            <Segments
              label="Range"
              value={choice.range}
              options={RANGE_OPTIONS}
              onChange={range => change({ range })}
            />
            <Segments label="Mode" value={choice.mode} options={MODE_OPTIONS} onChange={mode => change({ mode })} />
            <Segments label="Split by" value={choice.by} options={SPLIT_OPTIONS} onChange={by => change({ by })} />
          </div>
          {!isKnown ? (
            !problem && <Loading what="the statistics" />
          ) : (
            <div class="overview-body" aria-busy={isOld}>
              {view.isEmpty && <NothingHere range={view.range} hasLonger={view.hasLonger} isOneMode={view.isOneMode} />}
              <Headline shown={view.shown} over={view.over} before={view.before} range={view.range} />
              <MessagesCard shown={view.shown} range={view.range} />
              <Charts
                times={view.times}
                range={view.range}
                buckets={view.buckets}
                sum={view.shown}
                by={view.by}
                parts={view.parts}
              />
              {view.by && <SplitTable key={view.by} by={view.by} parts={view.parts} all={view.shown} />}
              <div class="columns">
                <RefusalsCard appId={app.id} choice={choice} refused={view.shown.refused} />
                <div class="overview-column">
                  <ProvidersCard appId={app.id} />
                  {isOperator && <QueuesCard queues={queues} />}
                </div>
              </div>
            </div>
          )}
        </>
      )}
    </Screen>
  )
}

/** What is drawn of the statistics. Its parts stay the same objects until other statistics are read. */
function useView(stats: Stats | undefined) {
  return useMemo(() => {
    if (!stats) return undefined
    const { period, rows, choice, split } = stats
    const { shown, over, before } = partsOf(rows, period)
    const sum = sumRows(shown)
    return {
      range: rangeWords(choice.range),
      times: { starts: startsOf(period), bucketMs: period.bucketMs },
      buckets: fillBuckets(shown, period),
      shown: sum,
      over: sumRows(over),
      before: sumRows(before),
      by: split?.by ?? null,
      parts: split === null ? [] : splitRows(split.rows, split.by, period),
      isEmpty: isEmpty(sum),
      hasLonger: choice.range !== RANGES.at(-1),
      isOneMode: choice.mode !== 'both',
    }
  }, [stats])
}
