// What a trial of settings found: figures, tables of what would differ, examples that lead to their verifications and
// refusals, and what is not known.
import { verificationPath } from '../../../screens.ts'
import type { Schemas } from '../../api/client.ts'
import { formatChange, formatMicros } from '../../data/amounts.ts'
import { channelName } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'
import { Badge } from '../../ui/badge.tsx'
import { countOf, formatCount } from '../../ui/figure-format.ts'
import { Notice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { addressOf, EMPTY_SEARCH } from '../verifications/search.ts'
import { isUnchanged, OUTCOMES, reasonOf, sumOf } from './trial-words.ts'

export type Trial = Schemas['SettingsTrial']
type Refusals = Schemas['TrialRefusals']
type Moves = Schemas['TrialMoves']
type Example = Schemas['TrialExample']

const country = {
  name: 'Country',
  show: (row: { country: string | null }) => (row.country ? countryName(row.country) : '–'),
}
const count = { name: 'Sends', align: 'right' as const, show: (row: { count: number }) => formatCount(row.count) }

const REFUSAL_COLUMNS: readonly Column<Refusals>[] = [
  { name: 'Reason', show: ({ type, scope }) => reasonOf(type, scope) },
  country,
  count,
]
const MOVE_COLUMNS: readonly Column<Moves>[] = [
  { name: 'From', show: ({ from }) => channelName(from) },
  { name: 'To', show: ({ to }) => channelName(to) },
  country,
  count,
]
const EXAMPLE_COLUMNS: readonly Column<Example>[] = [
  { name: 'Time', show: ({ at }) => <Time at={at} /> },
  {
    name: 'Recipient',
    show: ({ otp_id, masked_recipient, ...example }) => (
      // The changes that are tried are not saved: the screen must stay.
      <ScreenLink
        to={otp_id === null ? refusalsLike(example) : verificationPath(otp_id)}
        target="_blank"
        aria-label={`Show the ${otp_id === null ? 'refusal' : 'verification'} of ${masked_recipient} in a new tab`}
      >
        {masked_recipient}
      </ScreenLink>
    ),
  },
  {
    name: 'Would be',
    show: ({ outcome }) => <Badge tone={OUTCOMES[outcome].tone}>{OUTCOMES[outcome].label}</Badge>,
  },
  {
    name: 'Because',
    show: ({ outcome, type, scope, from, to }) =>
      type === null
        ? `${channelName(from ?? '')} → ${channelName(to ?? '')}`
        : `${outcome === 'no_longer_refused' ? 'Was refused: ' : ''}${reasonOf(type, scope)}`,
  },
]

/** Refusals of this type and millisecond. The whole recipient is not known here, and would not belong in an address. */
function refusalsLike({ at, type }: Pick<Example, 'at' | 'type'>): string {
  const until = new Date(Date.parse(at) + 1).toISOString()
  return addressOf({ ...EMPTY_SEARCH, tab: 'refusals', type: type ?? '', since: at, until })
}

export function TrialResult({ trial }: { trial: Trial }) {
  const { sends, refused, no_longer_refused, moved, cost_micros, examples, not_judged } = trial
  const { was, would_be } = cost_micros
  if (sends === 0) return <Notice>There are no live sends of this time on record.</Notice>
  return (
    <div class="trial">
      <dl class="trial-figures">
        <Figure name="Would be refused" value={formatCount(sumOf(refused))} detail={`of ${countOf(sends, 'send')}`} />
        <Figure name="Would be let through" value={formatCount(sumOf(no_longer_refused))} detail="refused then" />
        <Figure name="Would move" value={formatCount(sumOf(moved))} detail="to another channel" />
        <Figure
          name="Would cost"
          value={formatMicros(would_be)}
          detail={was === would_be ? 'as it did' : `${formatChange(would_be - was)} against ${formatMicros(was)}`}
        />
      </dl>
      {isUnchanged(trial) &&
        (not_judged.length === 0 ? (
          <Notice tone="good">No send of this time would have been decided otherwise.</Notice>
        ) : (
          <Notice>No send of this time would have been decided otherwise, as far as it can be judged.</Notice>
        ))}
      <Section title="Would be refused" rows={refused} columns={REFUSAL_COLUMNS} />
      <Section title="Would be let through" rows={no_longer_refused} columns={REFUSAL_COLUMNS} />
      <Section title="Would move" rows={moved} columns={MOVE_COLUMNS} />
      <Section title="Examples" rows={examples} columns={EXAMPLE_COLUMNS} />
      {not_judged.length > 0 && (
        <section>
          <h3>Not judged</h3>
          <ul class="trial-not-judged">
            {not_judged.map(({ reason, count, detail }) => (
              <li key={reason}>
                <strong>{countOf(count, 'call')}.</strong> {detail}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function Figure({ name, value, detail }: { name: string; value: string; detail: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="trial-value">{value}</dd>
      <dd class="soft">{detail}</dd>
    </div>
  )
}

function Section<T>({ title, rows, columns }: { title: string; rows: readonly T[]; columns: readonly Column<T>[] }) {
  if (rows.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <Table caption={title} columns={columns} rows={rows} keyOf={row => JSON.stringify(row)} />
    </section>
  )
}
