// The headers of a gateway: any number of names with secret values. A stored value is kept until another is typed.
import { useRef } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import type { HeaderRow } from './config-form.ts'

export interface HeadersFieldProps {
  label: string
  hint: string | undefined
  rows: readonly HeaderRow[]
  onChange(rows: HeaderRow[]): void
  /** The stored values would be sent to another address than before. */
  moved: boolean
  error: string | undefined
  errorOf(name: string): string | undefined
}

export function HeadersField({ label, hint, rows, onChange, moved, error, errorOf }: HeadersFieldProps) {
  const change = (at: number, changes: Partial<HeaderRow>) =>
    onChange(rows.map((row, nth) => (nth === at ? { ...row, ...changes } : row)))
  const frame = useRef<HTMLFieldSetElement>(null)
  function remove(at: number): void {
    onChange(rows.filter((_, nth) => nth !== at))
    // The button that had the focus is gone.
    frame.current?.querySelector<HTMLElement>('[data-add]')?.focus()
  }
  return (
    <fieldset ref={frame} class="providers-headers">
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      {rows.map((row, at) => (
        // A row has no other identity while its name is typed.
        <div class="providers-header" key={at}>
          <TextField
            label="Header name"
            value={row.name}
            onInput={name => change(at, { name, stored: null })}
            placeholder="authorization"
            monospace
          />
          <TextField
            label="Header value"
            type="password"
            autocomplete="new-password"
            value={row.value}
            onInput={value => change(at, { value })}
            placeholder={row.stored !== null && !moved ? 'Unchanged' : ''}
            hint={
              row.stored === null ? undefined : moved ? (
                <strong class="providers-again">Type it again: the address has changed.</strong>
              ) : (
                <>
                  Kept: <code>{row.stored}</code>
                </>
              )
            }
            error={errorOf(row.name.trim())}
            monospace
          />
          <Button
            look="quiet"
            aria-label={row.name === '' ? 'Remove header' : `Remove header ${row.name}`}
            onClick={() => remove(at)}
          >
            Remove
          </Button>
        </div>
      ))}
      {error && <p class="error">{error}</p>}
      <div>
        <Button data-add onClick={() => onChange([...rows, { name: '', value: '', stored: null }])}>
          Add header
        </Button>
      </div>
    </fieldset>
  )
}
