// Who changed the prices, when, and which. They hold for all companies, so all may see it.
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { formatMicros } from '../../data/amounts.ts'
import { fillPage } from '../../data/fill-page.ts'
import { usePages } from '../../data/use-pages.ts'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import {
  countryLabel,
  listOf,
  PRICED_NAMES,
  type Price,
  type PriceChange,
  type Prices,
  priceChanges,
  pricesOf,
} from './price-table.ts'

type AuditRecord = Schemas['AuditRecord']

/** More are not read by eye; the Audit screen has them. */
const MAX_SHOWN = 12

const query = { company_id: '*', action: 'prices.replace' } as const

/** Is read again when the prices change. */
export function PriceHistoryCard({ prices }: { prices: Prices }) {
  const records = usePages(`price changes ${JSON.stringify(listOf(prices))}`, (page, call) =>
    fillPage(page, asked => bodyOf(api.GET('/admin/v1/audit', { params: { query: { ...query, ...asked } }, ...call }))),
  )
  return (
    <Card title="Price changes" lead="Who changed what, newest first.">
      <PagedTable
        caption="price changes"
        columns={COLUMNS}
        pages={records}
        keyOf={({ id }) => id}
        empty={<Empty title="No price was changed yet." />}
      />
    </Card>
  )
}

const COLUMNS: readonly Column<AuditRecord>[] = [
  { name: 'When', show: ({ at }) => <Time at={at} /> },
  { name: 'Who', show: ({ who }) => who },
  { name: 'What', show: record => <Changes of={record} /> },
]

function Changes({ of: { before, after, outcome } }: { of: AuditRecord }) {
  if (outcome === 'undone') return <span class="soft">Nothing was changed.</span>
  // A very long change is shortened in the log.
  if (!Array.isArray(before) || !Array.isArray(after)) return <span class="soft">Many prices: see Audit.</span>
  const changes = priceChanges(pricesOf(before as unknown as Price[]), pricesOf(after as unknown as Price[]))
  return (
    <ul class="money-changes">
      {changes.slice(0, MAX_SHOWN).map(change => (
        <li key={JSON.stringify(change)}>
          <Change of={change} />
        </li>
      ))}
      {changes.length > MAX_SHOWN && <li class="soft">and {changes.length - MAX_SHOWN} more</li>}
    </ul>
  )
}

const Change = ({ of: { priced, country, effectiveAt, was, micros } }: { of: PriceChange }) => (
  <>
    {PRICED_NAMES[priced]}, {countryLabel(country)}: {amount(was)} → {amount(micros)}
    {effectiveAt && (
      <>
        {' '}
        from <Time at={effectiveAt} />
      </>
    )}
  </>
)

const amount = (micros: number | null): string => (micros === null ? 'none' : formatMicros(micros))
