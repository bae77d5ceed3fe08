// Copies a text, and says so.
import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'

const SAID_FOR_MS = 2_000

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    await navigator.clipboard?.writeText(text)
    setCopied(true)
  }
  return (
    <>
      <Button look="quiet" onClick={copy}>
        {label}
      </Button>
      <span class="copied" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </>
  )
}
