// Chooses a country by its name or code. The browser's own list of suggestions helps with the name.
import { useId, useRef, useState } from 'preact/hooks'
import { COUNTRIES, type Country, countryName, findCountry } from '../data/countries.ts'
import { Button } from './button.tsx'
import './country-field.css'

export interface CountryFieldProps {
  label: string
  /** The name of the button. */
  action: string
  /** Countries that cannot be chosen again. */
  chosen: readonly string[]
  onChoose(code: string): void
}

export function CountryField({ label, action, chosen, onChoose }: CountryFieldProps) {
  const id = useId()
  const [text, setText] = useState('')
  const [error, setError] = useState<string | null>(null)
  function choose(): void {
    const country = findCountry(text)
    const problem = problemOf(text, country, chosen)
    setError(problem)
    if (country === null || problem !== null) return
    setText('')
    onChoose(country.code)
  }
  return (
    <div class={error ? 'country-field field wrong' : 'country-field field'}>
      <label for={id}>{label}</label>
      <div class="country-field-row">
        <input
          id={id}
          type="text"
          list={`${id}-countries`}
          value={text}
          placeholder="Name or code"
          autocomplete="off"
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? `${id}-error` : undefined}
          onInput={event => {
            setText(event.currentTarget.value)
            setError(null)
          }}
          onKeyDown={event => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            choose()
          }}
        />
        <Button onClick={choose}>{action}</Button>
      </div>
      <datalist id={`${id}-countries`}>
        {COUNTRIES.map(({ code, name }) => (
          <option key={code} value={name}>
            {code}
          </option>
        ))}
      </datalist>
      {error && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

function problemOf(text: string, country: Country | null, chosen: readonly string[]): string | null {
  if (text.trim() === '') return 'Type the name or the code of a country.'
  if (country === null) return `“${text.trim()}” is the name or code of no country, or of several.`
  return chosen.includes(country.code) ? `${country.name} is there already.` : null
}

export interface CountryTagsProps {
  /** Names the list. */
  label: string
  codes: readonly string[]
  onRemove(code: string): void
}

/** Countries that were chosen, each with a button that removes it. A `CountryField` beside it adds them. */
export function CountryTags({ label, codes, onRemove }: CountryTagsProps) {
  const list = useRef<HTMLUListElement>(null)
  function remove(code: string): void {
    // The button that had the focus is gone then.
    list.current?.parentElement?.querySelector<HTMLElement>('.country-field button')?.focus()
    onRemove(code)
  }
  return (
    <ul ref={list} class="country-tags" aria-label={label}>
      {codes.map(code => (
        <li key={code}>
          {countryName(code)}
          <Button look="quiet" aria-label={`Remove ${countryName(code)}`} onClick={() => remove(code)}>
            ✕
          </Button>
        </li>
      ))}
    </ul>
  )
}
