// Counts by name, each with a bar as long as its share of the largest, or of a whole. The bars repeat the numbers, so they are hidden from
// readers.
import type { ComponentChildren } from 'preact'
import { formatCount } from './figure-format.ts'
import './bar-list.css'

export interface Bar {
  key: string
  name: ComponentChildren
  count: number
  /** Drawn in the colour of what is wrong. */
  isBad?: boolean
}

export interface BarListProps {
  bars: readonly Bar[]
  label: string
  /** What the bars add up to; without it the largest is as long as the line. */
  whole?: number
}

export function BarList({ bars, label, whole }: BarListProps) {
  // At least 1, because all may be zero.
  const longest = Math.max(1, whole ?? Math.max(...bars.map(({ count }) => count)))
  return (
    <ul class="bar-list" aria-label={label}>
      {bars.map(({ key, name, count, isBad = false }) => (
        <li key={key} class={isBad ? 'bar-list-bad' : ''}>
          <span>{name}</span>
          <span class="bar-list-count">{formatCount(count)}</span>
          <svg aria-hidden="true" width="100%" height="6">
            <rect class="bar-list-rail" width="100%" height="6" rx="3" />
            <rect width={`${(count / longest) * 100}%`} height="6" rx="3" />
          </svg>
        </li>
      ))}
    </ul>
  )
}
