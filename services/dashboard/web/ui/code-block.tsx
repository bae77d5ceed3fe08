// A text for a terminal or a program, with a button that copies it.
import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'

export interface CodeBlockProps {
  label: ComponentChildren
  text: string
  /** What the button copies, where that is another text. Null for no button. */
  copied?: string | null
}

export function CodeBlock({ label, text, copied = text }: CodeBlockProps) {
  return (
    <figure class="code-block">
      <figcaption>
        <span>{label}</span>
        {copied !== null && <CopyButton text={copied} />}
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}
