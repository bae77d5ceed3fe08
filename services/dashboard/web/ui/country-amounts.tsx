// Amounts by country, and one for each country that has none of its own. In: micro-units by code. Out: the same, or what was typed as long
// as it is no amount.
import { useEffect, useRef } from 'preact/hooks'
import { countryName, sortedByName } from '../data/countries.ts'
import { amount } from '../data/notation.ts'
import { Button } from './button.tsx'
import './country-amounts.css'
import { CountryField } from './country-field.tsx'
import { TypedField } from './typed-field.tsx'

/** Each country without an amount of its own. */
const OTHERS = '*'

export type CountryAmountMap = Readonly<Record<string, number | string>>

export interface CountryAmountsProps {
  amounts: CountryAmountMap
  onChange(amounts: Record<string, number | string>): void
  words: {
    /** Said while there is no amount. */
    none: string
    /** Behind the name of the country in the label of its field. */
    per: string
    /** What is removed, such as "the cap". */
    one: string
    field: string
    add: string
    addOthers: string
    example: string
  }
  /** Without countries there is only the amount for all. */
  hasCountries?: boolean
  errorOf(code: string): string | undefined
}

export function CountryAmounts({ amounts, onChange, words, hasCountries = true, errorOf }: CountryAmountsProps) {
  const frame = useRef<HTMLDivElement>(null)
  const hasRemoved = useRef(false)
  const countries = sortedByName(Object.keys(amounts).filter(code => code !== OTHERS))
  const codes = OTHERS in amounts ? [...countries, OTHERS] : countries
  const nameOf = (code: string): string =>
    code !== OTHERS ? countryName(code) : hasCountries ? 'Each other country' : 'Everyone'
  const set = (code: string, micros: number | string): void => onChange({ ...amounts, [code]: micros })
  function remove(code: string): void {
    onChange(Object.fromEntries(Object.entries(amounts).filter(([one]) => one !== code)))
    hasRemoved.current = true
  }
  // The button that had the focus is gone; the one that adds the amount again may be there only now.
  useEffect(() => {
    if (hasRemoved.current) frame.current?.querySelector<HTMLElement>('.country-amounts-add button')?.focus()
    hasRemoved.current = false
  })
  return (
    <div class="country-amounts" ref={frame}>
      {codes.length === 0 && <p class="hint">{words.none}</p>}
      {codes.map(code => (
        <div key={code} class="country-amount">
          <TypedField
            label={`${nameOf(code)}, ${words.per}`}
            inputMode="decimal"
            placeholder={words.example}
            notation={amount}
            value={amounts[code] ?? ''}
            onInput={micros => set(code, micros)}
            error={errorOf(code)}
            refusal="Must be an amount, such as 25 or 0.50."
          />
          <Button look="quiet" aria-label={`Remove ${words.one} of ${nameOf(code)}`} onClick={() => remove(code)}>
            Remove
          </Button>
        </div>
      ))}
      <div class="country-amounts-add">
        {hasCountries && (
          <CountryField label={words.field} action={words.add} chosen={codes} onChoose={code => set(code, '')} />
        )}
        {!(OTHERS in amounts) && <Button onClick={() => set(OTHERS, '')}>{words.addOthers}</Button>}
      </div>
    </div>
  )
}
