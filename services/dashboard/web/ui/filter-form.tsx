// The filters of a list. In: their declarations and values. Out: new values, at once for a choice, and for a text or a
// time when the viewer leaves it: a year is typed digit by digit, and each would be a search.
import { useEffect, useState } from 'preact/hooks'
import { timeIn, toLocalField } from '../data/local-field.ts'
import { type Filter, type FilterValues, mapFilters } from '../data/use-address-filters.ts'
import { Button } from './button.tsx'
import { Select, TextField } from './field.tsx'
import './filter-form.css'

export interface FilterFormProps<Name extends string> {
  filters: readonly Filter<Name>[]
  values: FilterValues<Name>
  onChange(values: FilterValues<Name>): void
}

export function FilterForm<Name extends string>({ filters, values, onChange }: FilterFormProps<Name>) {
  const inFields = (): FilterValues<Name> =>
    mapFilters(filters, ({ name, isTime }) => (isTime ? toLocalField(values[name]) : values[name]))
  const [fields, setFields] = useState(inFields)
  // Back and shared links change the values without this form.
  useEffect(
    () => setFields(inFields),
    filters.map(({ name }) => values[name]),
  )

  function use(changed: FilterValues<Name>): void {
    const next = mapFilters(filters, ({ name, isTime }) =>
      isTime ? timeIn(changed[name], values[name]) : changed[name].trim(),
    )
    if (filters.some(({ name }) => next[name] !== values[name])) onChange(next)
  }
  /** The button goes with the filters, and the focus with it: then the fields must be empty already, or they would be used again. */
  function clear(): void {
    const none = mapFilters(filters, () => '')
    setFields(none)
    onChange(none)
  }
  return (
    <form
      class="filter-form"
      aria-label="Filters"
      onFocusOut={() => use(fields)}
      onSubmit={event => {
        event.preventDefault()
        use(fields)
      }}
    >
      {filters.map(({ name, label, options, placeholder, isTime }) => {
        const set = (value: string): FilterValues<Name> => {
          const changed = { ...fields, [name]: value }
          setFields(changed)
          return changed
        }
        if (options)
          return (
            <Select
              key={name}
              label={label}
              value={fields[name]}
              options={options}
              onChange={value => use(set(value))}
            />
          )
        return (
          <TextField
            key={name}
            label={label}
            type={isTime ? 'datetime-local' : 'text'}
            value={fields[name]}
            {...(placeholder === undefined ? {} : { placeholder })}
            onInput={set}
          />
        )
      })}
      <Button type="submit">Filter</Button>
      {filters.some(({ name }) => values[name] !== '') && (
        <Button look="quiet" onClick={clear}>
          Clear filters
        </Button>
      )}
    </form>
  )
}
