// A state in a word and a colour.
import type { ComponentChildren } from 'preact'

export type Tone = 'neutral' | 'good' | 'warning' | 'bad' | 'info'

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

const STATUS_TONES: Readonly<Record<string, Tone>> = {
  approved: 'good',
  delivered: 'good',
  sent: 'info',
  pending: 'info',
  queued: 'neutral',
  failed: 'bad',
  expired: 'neutral',
  canceled: 'neutral',
}

/** The state of a verification, a delivery or an event, in the API's own word. */
export function Status({ of }: { of: string }) {
  return <Badge tone={STATUS_TONES[of] ?? 'neutral'}>{of}</Badge>
}
