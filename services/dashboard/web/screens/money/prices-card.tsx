// What a message costs by country and channel. Operators edit the whole table and save it at once: the API replaces all prices.
import { useEffect, useRef, useState } from 'preact/hooks'
import { PRICED } from '../../../../../machines/channels.ts'
import { formatMicros } from '../../data/amounts.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { keepEdit, readEdit } from './kept-edit.ts'
import { cellKey, countriesOf, countryLabel, PRICED_NAMES, type Prices, priceIn } from './price-table.ts'
import { PricesForm } from './prices-form.tsx'
import { ScheduledPrices } from './scheduled-prices.tsx'

export interface PricesCardProps {
  prices: Prices
  onSaved(prices: Prices): void
  reload(): Promise<void>
}

export function PricesCard({ prices, onSaved, reload }: PricesCardProps) {
  const mayEdit = useMay('operator')
  const [editing, setEditing] = useState(() => mayEdit && readEdit() !== null)
  const editButton = useRef<HTMLSpanElement>(null)
  const wasEditing = useRef(false)
  // The fields that had the focus are gone.
  useEffect(() => {
    if (wasEditing.current && !editing) editButton.current?.querySelector('button')?.focus()
    wasEditing.current = editing
  }, [editing])
  function close(): void {
    keepEdit(null)
    setEditing(false)
  }
  return (
    <Card
      title="Prices"
      lead="Of one message, for every company. A country without a price of its own has that of every other country. A WhatsApp reply is what the link modes send."
      actions={
        mayEdit &&
        !editing && (
          <span ref={editButton}>
            <Button onClick={() => setEditing(true)}>Edit prices</Button>
          </span>
        )
      }
    >
      {editing ? (
        <PricesForm
          saved={prices}
          onSaved={saved => {
            onSaved(saved)
            close()
          }}
          onCancel={() => {
            close()
            void reload()
          }}
        />
      ) : prices.size === 0 ? (
        <Empty title="Every message is free.">
          {mayEdit
            ? 'That is the normal state of a self-hosted system. Set prices if you charge companies for messages.'
            : `No price is set. ${onlyRole('operator', 'set prices')}`}
        </Empty>
      ) : (
        <>
          <Table caption="Prices" columns={columns(prices)} rows={countriesOf(prices)} keyOf={country => country} />
          <ScheduledPrices prices={prices} />
        </>
      )}
      {!mayEdit && prices.size > 0 && <p class="hint">{onlyRole('operator', 'set prices')}</p>}
    </Card>
  )
}

const columns = (prices: Prices): Column<string>[] => [
  { name: 'Country', show: countryLabel },
  ...PRICED.map(
    (priced): Column<string> => ({
      name: PRICED_NAMES[priced],
      align: 'right',
      show: country => {
        const text = formatMicros(priceIn(prices, priced, country))
        return prices.has(cellKey(priced, country)) ? text : <span class="soft">{text}</span>
      },
    }),
  ),
]
