// One of a few choices, each explained in a sentence.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import './radio-group.css'

export interface RadioGroupProps<T extends string> {
  label: string
  value: T
  options: readonly { value: T; label: string; hint?: ComponentChildren }[]
  onChange(value: T): void
  /** A change is under way: nothing can be chosen, and the focus stays, which a disabled group would lose. */
  busy?: boolean
  error?: string | undefined
}

export function RadioGroup<T extends string>({
  label,
  value,
  options,
  onChange,
  busy = false,
  error,
}: RadioGroupProps<T>) {
  const id = useId()
  return (
    <fieldset class="radio-group" aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{label}</legend>
      {options.map((option, at) => (
        <div key={option.value} class="radio">
          <input
            id={`${id}-${at}`}
            type="radio"
            name={id}
            value={option.value}
            checked={option.value === value}
            aria-disabled={busy ? true : undefined}
            aria-describedby={option.hint ? `${id}-${at}-hint` : undefined}
            onClick={event => busy && event.preventDefault()}
            onChange={() => onChange(option.value)}
          />
          <div>
            <label for={`${id}-${at}`}>{option.label}</label>
            {option.hint && (
              <p class="hint" id={`${id}-${at}-hint`}>
                {option.hint}
              </p>
            )}
          </div>
        </div>
      ))}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  )
}
