// A secret in the form of a provider: a new one is typed, a stored one is kept, replaced or removed, and never shown.

import type { ConfigField } from '../../../../domain/tenancy/provider-types/declaration.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'

export interface SecretFieldProps {
  field: Pick<ConfigField, 'label' | 'hint' | 'kind'>
  value: string
  onInput(value: string): void
  /** The fingerprint of the stored secret. */
  stored: string | undefined
  /** The stored secret would be sent to another address than before. */
  moved: boolean
  /** Undefined where it cannot be removed by itself. */
  onRemove: (() => void) | undefined
  removed: boolean
  onKeep(): void
  error: string | undefined
}

export function SecretField(props: SecretFieldProps) {
  const { field, value, onInput, stored, moved, onRemove, removed, onKeep, error } = props
  const { label } = field
  if (stored !== undefined && removed)
    return (
      <div class="field">
        <span class="providers-label">{label}</span>
        <p class="soft">
          It is removed when you save.{' '}
          <Button look="quiet" onClick={onKeep} aria-label={`Keep ${label}`}>
            Keep
          </Button>
        </p>
      </div>
    )
  const hint =
    stored === undefined ? (
      field.hint
    ) : (
      <>
        <StoredHint stored={stored} moved={moved} />
        {!moved && onRemove && (
          <>
            {' '}
            <Button look="quiet" onClick={onRemove} aria-label={`Remove ${label}`}>
              Remove
            </Button>
          </>
        )}
      </>
    )
  const common = { label, hint, value, onInput, error, placeholder: stored !== undefined && !moved ? 'Unchanged' : '' }
  return field.kind === 'lines' ? (
    <TextArea {...common} monospace rows={4} />
  ) : (
    // A browser must not offer the viewer's own password here.
    <TextField {...common} type="password" autocomplete="new-password" monospace />
  )
}

function StoredHint({ stored, moved }: { stored: string; moved: boolean }) {
  if (moved)
    return (
      <strong class="providers-again">
        Type it again: the address has changed, and a stored secret is not sent to another address.
      </strong>
    )
  return (
    <>
      Keep it as it is by leaving this empty. Its fingerprint: <code>{stored}</code>
    </>
  )
}
