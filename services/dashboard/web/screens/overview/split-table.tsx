// The sums of the period by channel, country or provider, and of all together.
import { useState } from 'preact/hooks'
import { formatMicros } from '../../data/amounts.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { formatCount, formatSeconds, formatShare } from '../../ui/figure-format.ts'
import { type Column, Table } from '../../ui/table.tsx'
import type { Figures } from './figures.ts'
import { deliveryRateWords, MESSAGE_OUTCOMES } from './messages.ts'
import { DIMENSION_NAMES, type Dimension, type SplitPart } from './split.ts'

/** More are shown on demand. */
const FIRST_ROWS = 10

interface SumRow {
  key: string
  name: string
  /** The code of a country. */
  code: string | null
  sum: Figures
}

const WHERE = 'A verification counts where it began, a message where it was sent.'
const WHERE_FOR_PROVIDERS = `${WHERE} So an approval counts for the provider of the first message; on the Routing screen the last message earns it.`

export function SplitTable({ by, parts, all }: { by: Dimension; parts: readonly SplitPart[]; all: Figures }) {
  const title = `By ${by}`
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? parts : parts.slice(0, FIRST_ROWS)
  const rows: SumRow[] = shown.map(({ value, name, sum }) => ({
    key: value ?? '',
    name,
    code: by === 'country' && value !== name ? value : null,
    sum,
  }))
  const total: SumRow = { key: 'all of them', name: 'All', code: null, sum: all }
  const count = (name: string, of: (sum: Figures) => number): Column<SumRow> => ({
    name,
    align: 'right',
    show: ({ sum }) => formatCount(of(sum)),
  })
  const columns: Column<SumRow>[] = [
    { name: DIMENSION_NAMES[by], show: nameOf },
    count('Sends', sum => sum.started),
    count('Messages', sum => sum.messages),
    ...MESSAGE_OUTCOMES.map(({ name, of }) => count(name, of)),
    { name: 'Delivery rate', align: 'right', show: ({ sum }) => deliveryRateWords(sum) },
    count('Approvals', sum => sum.approved),
    { name: 'Conversion', align: 'right', show: ({ sum }) => formatShare(sum.conversion) },
    { name: 'Time to approval', align: 'right', show: ({ sum }) => formatSeconds(sum.seconds) },
    count('Attempts used up', sum => sum.failed),
    count('Expired', sum => sum.expired),
    count('Refused sends', sum => sum.refused),
    // Where nothing costs anything, a column of zeros says nothing.
    ...(all.spend && by !== 'provider' ? [SPEND] : []),
  ]
  return (
    <Card
      title={title}
      lead={by === 'provider' ? WHERE_FOR_PROVIDERS : WHERE}
      actions={
        parts.length > FIRST_ROWS && (
          <Button look="quiet" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? `Show the first ${FIRST_ROWS}` : `Show all ${parts.length}`}
          </Button>
        )
      }
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="overview-sums" tabIndex={0} aria-label={`${title}, all columns`}>
        <Table caption={title} columns={columns} rows={[...rows, total]} keyOf={({ key }) => key} />
      </section>
    </Card>
  )
}

const SPEND: Column<SumRow> = { name: 'Spend', align: 'right', show: ({ sum }) => formatMicros(sum.spend ?? 0) }

const nameOf = ({ name, code }: SumRow) =>
  code === null ? (
    name
  ) : (
    <>
      {name} <span class="soft">{code}</span>
    </>
  )
