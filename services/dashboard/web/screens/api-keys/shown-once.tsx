// A key or a secret that is shown this once: it is focused and selected as soon as it is there, and has a button that copies it.
import { useEffect, useRef } from 'preact/hooks'
import { CopyButton } from '../../ui/copy-button.tsx'
import { TextField } from '../../ui/field.tsx'

export function ShownOnce({ label, value }: { label: string; value: string }) {
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => frame.current?.querySelector('input')?.focus(), [value])
  return (
    <div class="api-keys-shown-once" ref={frame}>
      <TextField label={label} value={value} readOnly monospace />
      <CopyButton text={value} />
    </div>
  )
}
