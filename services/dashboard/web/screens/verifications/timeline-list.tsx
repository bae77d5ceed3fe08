// All that happened to a verification, in order, with the time between the entries.
import { Time } from '../../ui/time.tsx'
import type { History } from './delivery-words.ts'
import { ShortId } from './short-id.tsx'
import { timelineRows } from './timeline.ts'

export function TimelineList({ history }: { history: History }) {
  const rows = timelineRows(history, Date.now())
  return (
    <ol class="verification-timeline">
      {rows.map(({ at, later, tone, title, details, ids }, nth) => (
        // Entries have no id of their own, and none is ever added before another.
        <li key={`${nth} ${at}`} class={tone}>
          <p class="verification-moment">
            <Moment at={at} before={rows[nth - 1]?.at} />
            {later && <span class="soft">{later}</span>}
          </p>
          <div class="verification-entry">
            <p>{title}</p>
            {details.length > 0 && (
              <ul class="soft">
                {details.map(detail => (
                  <li key={detail}>{detail}</li>
                ))}
              </ul>
            )}
            {ids.map(({ name, id }) => (
              <p key={id} class="verification-id hint">
                {name} <ShortId id={id} />
              </p>
            ))}
          </div>
        </li>
      ))}
    </ol>
  )
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const dayOf = (at: string): string => new Date(at).toDateString()

/** The day and the time where a day begins, the time alone after it. In UTC on hover. */
function Moment({ at, before }: { at: string; before: string | undefined }) {
  if (before === undefined || dayOf(before) !== dayOf(at)) return <Time at={at} />
  const moment = new Date(at)
  return (
    <time dateTime={at} title={`${moment.toISOString().replace('T', ' ').slice(0, 23)} UTC`}>
      {clock.format(moment)}
    </time>
  )
}
