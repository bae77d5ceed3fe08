// Any of a few choices, each explained in a sentence.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { RadioGroupProps } from './radio-group.tsx'
import './radio-group.css'

export interface CheckGroupProps<T extends string> extends Pick<RadioGroupProps<T>, 'label' | 'options' | 'error'> {
  value: readonly T[]
  hint?: ComponentChildren
  onChange(value: T[]): void
}

export function CheckGroup<T extends string>({ label, value, hint, options, onChange, error }: CheckGroupProps<T>) {
  const id = useId()
  return (
    <fieldset
      class="radio-group"
      aria-describedby={[hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')}
    >
      <legend>{label}</legend>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {options.map(option => (
        <div key={option.value} class="radio">
          <input
            id={`${id}-${option.value}`}
            type="checkbox"
            checked={value.includes(option.value)}
            aria-describedby={option.hint ? `${id}-${option.value}-hint` : undefined}
            onChange={({ currentTarget: { checked } }) =>
              onChange(
                // In the order of the choices, so that one that is taken away and put back is no change.
                options.map(one => one.value).filter(one => (one === option.value ? checked : value.includes(one))),
              )
            }
          />
          <div>
            <label for={`${id}-${option.value}`}>{option.label}</label>
            {option.hint && (
              <p class="hint" id={`${id}-${option.value}-hint`}>
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
