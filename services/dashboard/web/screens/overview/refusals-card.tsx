// Refused sends by type. In: the number of refused sends of the statistics, which count all of them, and GET /refusals/summary, which has
// the types. Records are kept for a week, and of a flood only a part is recorded, so the card says what it has counted.
import { api, bodyOf } from '../../api/client.ts'
import { useKept } from '../../data/use-kept.ts'
import { useQuery } from '../../data/use-query.ts'
import { BarList } from '../../ui/bar-list.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { countOf } from '../../ui/figure-format.ts'
import { Loading } from '../../ui/loading.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { Time } from '../../ui/time.tsx'
import { type Choice, rangeWords } from './choice.ts'
import { periodOf } from './period.ts'
import { refusalName } from './refusal-names.ts'

/** The summary reads the records themselves. */
const LIVE_MS = 30_000
const KEPT_DAYS = 7

export interface RefusalsCardProps {
  appId: string
  choice: Choice
  /** Refused sends of the whole period. */
  refused: number
}

export function RefusalsCard({ appId, choice, refused }: RefusalsCardProps) {
  const { range, mode } = choice
  // Records are kept for as long as the middle range.
  const counted = range === '30d' ? '7d' : range
  const query = useQuery(
    `refusals ${appId} ${counted} ${mode}`,
    signal =>
      bodyOf(
        api.GET('/admin/v1/refusals/summary', {
          params: {
            query: {
              app_id: appId,
              since: new Date(periodOf(counted, Date.now()).since).toISOString(),
              ...(mode === 'both' ? {} : { mode }),
            },
          },
          signal,
        }),
      ),
    { everyMs: LIVE_MS },
  )
  const summary = useKept(query.data)
  const lead = `${countOf(refused, 'send')} refused in the last ${rangeWords(range)}.`
  return (
    <Card
      title="Refusals by type"
      lead={lead}
      actions={<ScreenLink to="/verifications?tab=refusals">Details</ScreenLink>}
    >
      {query.problem && <ProblemNotice problem={query.problem} onRetry={query.reload} />}
      {summary === undefined ? (
        !query.problem && <Loading what="refusals" />
      ) : summary.types.length === 0 ? (
        <Empty title="No refusal is on record." />
      ) : (
        <>
          <BarList
            label="Refusals by type"
            bars={summary.types.map(({ type, count }) => ({
              key: type,
              count,
              name: (
                <>
                  {refusalName(type)} <code class="soft">{type}</code>
                </>
              ),
            }))}
          />
          <p class="hint">
            {summary.complete ? (
              <>Refused sends and resends on record{range === '30d' ? `, which are kept for ${KEPT_DAYS} days` : ''}.</>
            ) : (
              <>
                Of the newest {countOf(summary.counted, 'record')}, since <Time at={summary.oldest_at} />.
              </>
            )}
          </p>
        </>
      )}
    </Card>
  )
}
