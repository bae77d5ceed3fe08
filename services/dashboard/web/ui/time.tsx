// A moment in the viewer's time zone, or in one that the screen names; in UTC on hover.

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const formatDay = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

export interface TimeProps {
  /** As the API gives it. */
  at: string | null | undefined
  /** What is shown where there is none. */
  none?: string
  /** The day alone. */
  day?: boolean
  /** An IANA time zone, in place of the viewer's. */
  zone?: string
}

export function Time({ at, none = 'never', day = false, zone }: TimeProps) {
  if (!at) return <span class="soft">{none}</span>
  const moment = new Date(at)
  return (
    <time dateTime={at} title={`${moment.toISOString().replace('T', ' ').slice(0, 19)} UTC`}>
      {zone === undefined
        ? (day ? formatDay : format).format(moment)
        : moment.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone })}
    </time>
  )
}
