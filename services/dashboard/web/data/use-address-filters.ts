// The filters of a list, in the query of the page's address: Back, reload and a shared link show the same list. In:
// their declarations. Out: their values, empty where there is none, and a function that changes some of them. What else
// the query says stays.
import { useLocation } from 'preact-iso'
import { fromLocalField } from './local-field.ts'

export interface Filter<Name extends string> {
  name: Name
  label: string
  /** What a choice offers. Others are texts. */
  options?: readonly { value: string; label: string }[]
  placeholder?: string
  /** Its value is a time of the API. */
  isTime?: true
}

export type FilterValues<Name extends string> = Readonly<Record<Name, string>>

export function useAddressFilters<Name extends string>(
  filters: readonly Filter<Name>[],
): [values: FilterValues<Name>, change: (changed: FilterValues<Name>) => void] {
  const { path, query, route } = useLocation()
  const values = mapFilters(filters, filter => readValue(filter, query[filter.name] ?? ''))
  function change(changed: FilterValues<Name>): void {
    const set = Object.entries<string>({ ...query, ...changed }).filter(([, value]) => value !== '')
    const text = new URLSearchParams(set).toString()
    route(text === '' ? path : `${path}?${text}`)
  }
  return [values, change]
}

/** A value that the API would refuse is left out. */
function readValue({ options, isTime }: Filter<string>, text: string): string {
  if (isTime) return fromLocalField(text)
  return options && !options.some(({ value }) => value === text) ? '' : text
}

export const mapFilters = <Name extends string>(
  filters: readonly Filter<Name>[],
  read: (filter: Filter<Name>) => string,
): FilterValues<Name> => Object.fromEntries(filters.map(filter => [filter.name, read(filter)])) as FilterValues<Name>

/** Without those that are empty, as the API takes them. */
export const onlySet = <Values extends Readonly<Record<string, string>>>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')) as {
    [Name in keyof Values]?: Exclude<Values[Name], ''>
  }

/** The options of a choice, with none of them first. */
export const anyOf = <Value extends string>(
  values: readonly Value[],
  wordsOf: (value: Value) => string = value => value,
): { value: Value | ''; label: string }[] => [
  { value: '', label: 'Any' },
  ...values.map(value => ({ value, label: wordsOf(value) })),
]
