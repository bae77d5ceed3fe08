// What the viewer should know: beside what it is about, in a colour and in words.
import type { ComponentChildren } from 'preact'
import type { Problem } from '../api/problem.ts'
import { Button } from './button.tsx'

export interface NoticeProps {
  tone?: 'info' | 'good' | 'warning' | 'bad'
  /** A refusal is announced at once; anything else when the viewer pauses. */
  children: ComponentChildren
}

export function Notice({ tone = 'info', children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

export function ProblemNotice({ problem, onRetry }: { problem: Problem; onRetry?: () => void }) {
  return (
    <Notice tone="bad">
      <p>{problem.detail}</p>
      {problem.retryAfter !== null && <p>Try again in {problem.retryAfter} s.</p>}
      {problem.status >= 500 && problem.requestId && (
        <p class="soft">
          Request <code>{problem.requestId}</code>
        </p>
      )}
      {onRetry && (
        <Button look="quiet" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Notice>
  )
}
