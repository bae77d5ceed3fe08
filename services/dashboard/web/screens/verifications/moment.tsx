// The time of an entry in a timeline: the day and the time where a day begins, the time alone after it. In UTC on hover.
import { Time } from '../../ui/time.tsx'

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const dayOf = (at: string): string => new Date(at).toDateString()

export function Moment({ at, before }: { at: string; before: string | undefined }) {
  if (before === undefined || dayOf(before) !== dayOf(at)) return <Time at={at} />
  const moment = new Date(at)
  return (
    <time dateTime={at} title={`${moment.toISOString().replace('T', ' ').slice(0, 23)} UTC`}>
      {clock.format(moment)}
    </time>
  )
}
