// Countries whose numbers have an order of their own, in place of the default order.
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Channel } from '../../data/channels.ts'
import { countryName, sortedByName } from '../../data/countries.ts'
import { Button } from '../../ui/button.tsx'
import { CountryField } from '../../ui/country-field.tsx'
import { ChannelOrder } from './channel-order.tsx'

export interface CountryOrdersProps {
  orders: Readonly<Record<string, Channel[]>>
  /** A new country begins with it. */
  defaultOrder: readonly Channel[]
  onChange(orders: Record<string, Channel[]>): void
  noteOf(channel: Channel): string | null
  errorOf(path: string): string | undefined
}

export function CountryOrders({ orders, defaultOrder, onChange, noteOf, errorOf }: CountryOrdersProps) {
  const added = useRef<string | null>(null)
  const frame = useRef<HTMLDivElement>(null)
  const codes = sortedByName(Object.keys(orders))
  useEffect(() => {
    if (added.current === null) return
    frame.current?.querySelector<HTMLElement>(`[data-country="${added.current}"] h3`)?.focus()
    added.current = null
  })
  function remove(code: string): void {
    onChange(Object.fromEntries(Object.entries(orders).filter(([one]) => one !== code)))
    // The button that had the focus is gone.
    frame.current?.querySelector<HTMLElement>('.country-field button')?.focus()
  }
  return (
    <div class="routing-countries" ref={frame}>
      <CountryField
        label="Country"
        action="Add country"
        chosen={codes}
        onChoose={code => {
          added.current = code
          onChange({ ...orders, [code]: [...defaultOrder] })
        }}
      />
      {codes.map(code => (
        <CountryOrder
          key={code}
          code={code}
          order={orders[code] ?? []}
          onChange={order => onChange({ ...orders, [code]: order })}
          onRemove={() => remove(code)}
          noteOf={noteOf}
          error={errorOf(`routing.countries.${code}`)}
        />
      ))}
      {codes.length === 0 && (
        <p class="hint">No country has an order of its own: the default order holds everywhere.</p>
      )}
    </div>
  )
}

interface CountryOrderProps extends Pick<CountryOrdersProps, 'noteOf'> {
  code: string
  order: Channel[]
  onChange(order: Channel[]): void
  onRemove(): void
  error: string | undefined
}

function CountryOrder({ code, order, onChange, onRemove, noteOf, error }: CountryOrderProps) {
  const id = useId()
  const name = countryName(code)
  return (
    <section class="routing-country" data-country={code} aria-labelledby={id}>
      <header>
        <h3 id={id} tabIndex={-1}>
          {name} <span class="soft">{code}</span>
        </h3>
        <Button look="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>
          Remove
        </Button>
      </header>
      <ChannelOrder label={`Order for ${name}`} order={order} onChange={onChange} noteOf={noteOf} />
      {error && <p class="error">{error}</p>}
    </section>
  )
}
