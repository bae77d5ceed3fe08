// One of a few choices, each explained in a sentence.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import './radio-group.css'

export interface RadioGroupProps<T extends string> {
  label: string
  value: T
  options: readonly { value: T; label: string; hint?: ComponentChildren }[]
  onChange(value: T): void
  disabled?: boolean
  error?: string | undefined
}

export function RadioGroup<T extends string>({
  label,
  value,
  options,
  onChange,
  disabled = false,
  error,
}: RadioGroupProps<T>) {
  const id = useId()
  return (
    <fieldset class="radio-group" disabled={disabled} aria-describedby={error ? `${id}-error` : undefined}>
      <legend>{label}</legend>
      {options.map((option, at) => (
        <div key={option.value} class="radio">
          <input
            id={`${id}-${at}`}
            type="radio"
            name={id}
            value={option.value}
            checked={option.value === value}
            aria-describedby={option.hint ? `${id}-${at}-hint` : undefined}
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
