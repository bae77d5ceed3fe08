// One of a few choices, side by side. They are radio buttons: the arrow keys move between them.
import { useId } from 'preact/hooks'
import './segments.css'

export interface SegmentsProps<T extends string> {
  label: string
  value: T
  options: readonly { value: T; label: string }[]
  onChange(value: T): void
}

export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
  const id = useId()
  return (
    <fieldset class="segments">
      <legend>{label}</legend>
      <div>
        {options.map(option => (
          <label key={option.value}>
            <input
              type="radio"
              name={id}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
