// The statement of a month: what the balance was, what changed it, and what explains a difference to a vendor's
// invoice. It prints by itself.
import { useState } from 'preact/hooks'
import { verificationPath } from '../../../screens.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { formatChange, formatMicros } from '../../data/amounts.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { useMay } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ExportButton } from '../../ui/export-button.tsx'
import { Select } from '../../ui/field.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { monthName, recentMonths } from './months.ts'

type Statement = Schemas['Statement']
type Row = Schemas['StatementRow']
type Exception = Schemas['StatementException']

export function StatementCard({ company, onChanged }: { company: Schemas['Company']; onChanged(): Promise<void> }) {
  const { id, timezone } = company
  const months = recentMonths(Date.now(), timezone)
  const [month, setMonth] = useState(months[0] ?? '')
  const path = { id }
  const statement = useQuery(`statement ${id} ${month} ${timezone}`, call =>
    bodyOf(api.GET('/admin/v1/companies/{id}/statement', { params: { path, query: { month } }, ...call })),
  )
  return (
    <Card
      title="Statement"
      lead={`What a month cost. Months begin and end in the time zone ${timezone}.`}
      actions={
        <>
          <Button onClick={() => window.print()}>Print</Button>
          <ExportButton
            key={`${id} ${month}`}
            label="Export statement"
            read={asCsv =>
              api.GET('/admin/v1/companies/{id}/statement', { params: { path, query: { month } }, ...asCsv })
            }
          />
        </>
      }
    >
      <div class="money-statement">
        <div class="money-statement-choice">
          <Select
            label="Month"
            value={month}
            options={months.map(value => ({ value, label: monthName(value) }))}
            onChange={setMonth}
          />
          <ZoneSelect company={company} onChanged={onChanged} />
        </div>
        {statement.problem && <ProblemNotice problem={statement.problem} onRetry={statement.reload} />}
        {statement.data && <StatementView statement={statement.data} name={company.name} />}
      </div>
    </Card>
  )
}

function ZoneSelect({ company, onChanged }: { company: Schemas['Company']; onChanged(): Promise<void> }) {
  const change = useChange()
  const mayChange = useMay('owner')
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter(zone => zone !== 'UTC')]
  if (!mayChange) return null
  const save = (timezone: string) =>
    change.run(async () => {
      const params = { path: { id: company.id } }
      await bodyOf(api.PATCH('/admin/v1/companies/{id}', { params, body: { timezone } }))
      await onChanged()
    })
  return (
    <>
      <Select
        label="Time zone"
        value={company.timezone}
        disabled={change.busy}
        options={zones.map(value => ({ value, label: value.replaceAll('_', ' ') }))}
        onChange={save}
      />
      {change.problem && <ProblemNotice problem={change.problem} />}
    </>
  )
}

function StatementView({ statement, name }: { statement: Statement; name: string }) {
  const { company_id: id, rows, exceptions, exception_count, month, from, until } = statement
  return (
    <>
      <h3>
        {name}, {monthName(month)}
      </h3>
      <dl class="money-review">
        {LINES.map(([line, member]) => (
          <>
            <dt>{line}</dt>
            <dd>{member.startsWith('opening') ? formatMicros(statement[member]) : formatChange(statement[member])}</dd>
          </>
        ))}
        <dt>Closing balance</dt>
        <dd>
          <strong>{formatMicros(statement.closing_micros)}</strong>
        </dd>
      </dl>
      {rows.length > 0 ? (
        <Table caption="Messages of the month" columns={COLUMNS} rows={rows} keyOf={row => JSON.stringify(row)} />
      ) : (
        <p class="soft">No message was charged or given back in this month.</p>
      )}
      {exception_count > 0 && (
        <>
          <h3>Exceptions</h3>
          <p class="soft">
            What explains a difference to a vendor's invoice.
            {exception_count > exceptions.length &&
              ` The first ${exceptions.length} of ${exception_count}; the file has all.`}
          </p>
          <ExportButton
            key={`${id} ${month}`}
            label="Export exceptions"
            read={(asCsv, page) =>
              api.GET('/admin/v1/companies/{id}/ledger', {
                params: { path: { id }, query: { exception: 'any', from, to: until, ...page } },
                ...asCsv,
              })
            }
          />
          <Table
            caption="Exceptions"
            columns={EXCEPTION_COLUMNS}
            rows={exceptions}
            keyOf={({ kind, delivery_id, at }) => `${kind} ${delivery_id} ${at}`}
          />
        </>
      )}
    </>
  )
}

const LINES = [
  ['Opening balance', 'opening_micros'],
  ['Credited', 'credits_micros'],
  ['Charged for messages', 'charges_micros'],
  ['Given back', 'refunds_micros'],
  ['Charged again', 'recharges_micros'],
] as const

const COLUMNS: readonly Column<Row>[] = [
  { name: 'App', show: ({ app_id, app_name }) => <AppName id={app_id} name={app_name} /> },
  { name: 'Channel', show: ({ channel }) => (channel ? CHANNEL_NAMES[channel] : '–') },
  { name: 'Country', show: ({ country }) => country ?? '–' },
  { name: 'Provider', show: ({ provider }) => provider ?? 'none, or not known yet' },
  { name: 'Price', align: 'right', show: ({ unit_micros }) => formatMicros(unit_micros) },
  { name: 'Charged', align: 'right', show: row => times(row.charged, row.charged_micros) },
  { name: 'Given back', align: 'right', show: row => times(row.refunded, row.refunded_micros) },
  { name: 'Charged again', align: 'right', show: row => times(row.recharged, row.recharged_micros) },
]

/** Two apps may have the same name. */
const AppName = ({ id, name }: { id: string | null; name: string | null }) =>
  name === null ? (
    (id ?? '–')
  ) : (
    <>
      {name} <span class="soft">{id}</span>
    </>
  )

const times = (count: number, micros: number): string => (count === 0 ? '–' : `${count}: ${formatChange(micros)}`)

const KINDS: Readonly<Record<Exception['kind'], string>> = {
  accepted_twice: 'Accepted twice, charged once',
  maybe_accepted_twice: 'Accepted once, and a call without an answer',
  refunded_without_answer: 'Given back, and a provider that did not answer may have got it',
  refunded_and_delivered: 'Given back, then delivered: charged again',
  paid_without_acceptance: 'Paid, and no provider is known to have accepted it',
  overdrawn: 'Took the balance below zero',
}

const EXCEPTION_COLUMNS: readonly Column<Exception>[] = [
  // In UTC, as a vendor's invoice is compared with it.
  { name: 'Time (UTC)', show: ({ at }) => at.replace('T', ' ').slice(0, 19) },
  { name: 'What', show: ({ kind }) => KINDS[kind] },
  { name: 'Amount', align: 'right', show: ({ micros }) => formatChange(micros) },
  { name: 'Message', show: ({ delivery_id }) => delivery_id ?? '–' },
  {
    name: 'For',
    show: ({ otp_id }) => (otp_id ? <ScreenLink to={verificationPath(otp_id)}>Verification</ScreenLink> : '–'),
  },
]
