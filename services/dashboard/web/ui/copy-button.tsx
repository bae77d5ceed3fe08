// Copies a text, and says whether it did.
import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'

const SAID_FOR_MS = 2_000

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async () => setSaid((await copyText(text)) ? 'Copied' : 'Not copied: select the text')
  return (
    <>
      <Button look="quiet" onClick={copy}>
        {label}
      </Button>
      <span class="copied" role="status">
        {said}
      </span>
    </>
  )
}
