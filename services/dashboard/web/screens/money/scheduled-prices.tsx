// Prices that hold from a later time on, the next one first. In an edit each can be withdrawn.
import { formatMicros } from '../../data/amounts.ts'
import { Button } from '../../ui/button.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { countryLabel, PRICED_NAMES, type Prices, type ScheduledPrice, scheduledIn } from './price-table.ts'

export function ScheduledPrices({ prices, onWithdraw }: { prices: Prices; onWithdraw?(price: ScheduledPrice): void }) {
  const scheduled = scheduledIn(prices)
  if (scheduled.length === 0) return null
  const columns: Column<ScheduledPrice>[] = [
    { name: 'From', show: ({ effectiveAt }) => <Time at={effectiveAt} /> },
    { name: 'Country', show: ({ country }) => countryLabel(country) },
    { name: 'Message', show: ({ priced }) => PRICED_NAMES[priced] },
    { name: 'Price', align: 'right', show: ({ micros }) => formatMicros(micros) },
  ]
  if (onWithdraw)
    columns.push({
      name: 'Withdraw',
      show: price => (
        <Button
          look="quiet"
          aria-label={`Withdraw ${PRICED_NAMES[price.priced]}, ${countryLabel(price.country)}`}
          onClick={() => onWithdraw(price)}
        >
          Withdraw
        </Button>
      ),
    })
  return (
    <>
      <h3>Scheduled prices</h3>
      <Table caption="Scheduled prices" columns={columns} rows={scheduled} keyOf={({ key }) => key} />
    </>
  )
}
