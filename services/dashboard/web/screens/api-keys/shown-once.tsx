// A key or a secret that is shown this once: it is focused and selected as soon as it is there, and has a button that copies it. Its field
// has lines: a single one, too short for the key, would scroll to its end and hide its beginning.
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextArea } from '../../ui/field.tsx'

export function ShownOnce({ label, value }: { label: string; value: string }) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => frame.current?.querySelector('textarea')?.focus(), [value])
  return (
    <div class="api-keys-shown-once" ref={frame}>
      <TextArea label={label} value={value} rows={2} readOnly monospace />
      <CopyButton text={value} />
    </div>
  )
}
