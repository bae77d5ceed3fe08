// Fields of forms. Each has a visible label that names it, an optional hint, and the words of a refusal beside it.
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  hint?: ComponentChildren
  error?: string | undefined
  disabled?: boolean
}

interface FrameProps extends FieldProps {
  id: string
  children: ComponentChildren
}

/** What is read out after the name of the field. */
export const describedBy = (id: string, { hint, error }: Pick<FieldProps, 'hint' | 'error'>): string | undefined =>
  [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ') || undefined

/** The label above a field, and the words below it. */
export function Frame({ id, label, hint, error, children }: FrameProps) {
  return (
    <div class={error ? 'field wrong' : 'field'}>
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

export interface TextFieldProps extends FieldProps {
  value: string
  onInput?(value: string): void
  type?: 'text' | 'email' | 'tel' | 'url' | 'number' | 'password' | 'search' | 'datetime-local'
  placeholder?: string
  autocomplete?: string
  inputMode?: 'numeric' | 'decimal' | 'text' | 'tel' | 'email'
  required?: boolean
  readOnly?: boolean
  autofocus?: boolean
  min?: number
  max?: number
  /** For keys, ids and codes. */
  monospace?: boolean
}

export function TextField(props: TextFieldProps) {
  const { value, onInput, type = 'text', monospace, inputMode, readOnly = false } = props
  const id = useId()
  return (
    <Frame {...props} id={id}>
      <input
        id={id}
        // Preact types the roles that each type of input may have, which a variable cannot satisfy.
        type={type as 'text'}
        class={monospace ? 'monospace' : ''}
        value={value}
        placeholder={props.placeholder}
        autocomplete={props.autocomplete ?? 'off'}
        inputMode={inputMode}
        required={props.required}
        readOnly={readOnly}
        disabled={props.disabled}
        min={props.min}
        max={props.max}
        autofocus={props.autofocus}
        aria-invalid={props.error ? true : undefined}
        aria-describedby={describedBy(id, props)}
        onInput={event => onInput?.(event.currentTarget.value)}
        onFocus={event => readOnly && event.currentTarget.select()}
      />
    </Frame>
  )
}

export interface TextAreaProps extends FieldProps {
  value: string
  onInput?(value: string): void
  rows?: number
  placeholder?: string
  monospace?: boolean
  readOnly?: boolean
}

export function TextArea(props: TextAreaProps) {
  const id = useId()
  return (
    <Frame {...props} id={id}>
      <textarea
        id={id}
        class={props.monospace ? 'monospace' : ''}
        rows={props.rows ?? 4}
        value={props.value}
        placeholder={props.placeholder}
        readOnly={props.readOnly}
        disabled={props.disabled}
        aria-invalid={props.error ? true : undefined}
        aria-describedby={describedBy(id, props)}
        onInput={event => props.onInput?.(event.currentTarget.value)}
        onFocus={event => props.readOnly && event.currentTarget.select()}
      />
    </Frame>
  )
}

export interface SelectProps<T extends string> extends FieldProps {
  value: T
  options: readonly { value: T; label: string }[]
  onChange(value: T): void
}

export function Select<T extends string>(props: SelectProps<T>) {
  const id = useId()
  return (
    <Frame {...props} id={id}>
      <select
        id={id}
        value={props.value}
        disabled={props.disabled}
        aria-invalid={props.error ? true : undefined}
        aria-describedby={describedBy(id, props)}
        onChange={event => props.onChange(event.currentTarget.value as T)}
      >
        {props.options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export interface SwitchProps extends FieldProps {
  checked: boolean
  /** A change is under way: it cannot be switched, and keeps the focus, which a disabled one would lose. */
  busy?: boolean
  onChange(checked: boolean): void
}

/** On or off, with effect at once or on saving. */
export function Switch(props: SwitchProps) {
  const id = useId()
  return (
    <div class={props.error ? 'switch-field wrong' : 'switch-field'}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        class="switch"
        checked={props.checked}
        disabled={props.disabled}
        aria-disabled={props.busy ? true : undefined}
        aria-checked={props.checked}
        aria-describedby={describedBy(id, props)}
        onClick={event => props.busy && event.preventDefault()}
        onChange={event => props.onChange(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{props.label}</label>
        {props.hint && (
          <p class="hint" id={`${id}-hint`}>
            {props.hint}
          </p>
        )}
        {props.error && (
          <p class="error" id={`${id}-error`}>
            {props.error}
          </p>
        )}
      </div>
    </div>
  )
}
