// Refused sends and resends by type. In: GET /refusals/summary, whose sum is the number above the bars. Records are kept for a week, and of
// a flood only a part is recorded; the statistics count all refused sends, so they tell when records are missing.
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
  /** Refused sends of the whole period, by the statistics. */
  refused: number
}

export function RefusalsCard({ appId, choice, refused }: RefusalsCardProps) {
  const { range, mode } = choice
  // Records are kept for as long as the middle range.
  const read = range === '30d' ? '7d' : range
  const query = useQuery(
    `refusals ${appId} ${read} ${mode}`,
    async call => ({
      ...(await bodyOf(
        api.GET('/admin/v1/refusals/summary', {
          params: {
            query: {
              app_id: appId,
              since: new Date(periodOf(read, Date.now()).since).toISOString(),
              ...(mode === 'both' ? {} : { mode }),
            },
          },
          ...call,
        }),
      )),
      range: read,
    }),
    { everyMs: LIVE_MS },
  )
  const summary = useKept(query.data)
  return (
    <Card
      title="Refusals by type"
      lead={summary && `${sendsAndResends(summary.counted)} refused in the last ${rangeWords(summary.range)}.`}
      actions={<ScreenLink to="/verifications?tab=refusals">Details</ScreenLink>}
    >
      {query.problem && <ProblemNotice problem={query.problem} onRetry={query.reload} />}
      {summary === undefined ? (
        !query.problem && <Loading what="refusals" />
      ) : (
        <>
          {summary.types.length === 0 ? (
            <Empty title="No refusal is on record." />
          ) : (
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
          )}
          {!summary.complete ? (
            <p class="hint">
              Only the newest are counted, since <Time at={summary.oldest_at} />.
            </p>
          ) : range === '30d' ? (
            <p class="hint">Records of refusals are kept for {KEPT_DAYS} days.</p>
          ) : (
            refused > summary.counted && <p class="hint">More were refused: not every refusal is on record.</p>
          )}
        </>
      )}
    </Card>
  )
}

const sendsAndResends = (count: number): string => countOf(count, 'send or resend', 'sends and resends')
