// Counts by name, each with a bar as long as its share of the largest. The bars repeat the numbers, so they are hidden from readers.
import type { ComponentChildren } from 'preact'
import { formatCount } from './figure-format.ts'
import './bar-list.css'

export interface Bar {
  key: string
  name: ComponentChildren
  count: number
}

export function BarList({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const largest = Math.max(...bars.map(({ count }) => count))
  return (
    <ul class="bar-list" aria-label={label}>
      {bars.map(({ key, name, count }) => (
        <li key={key}>
          <span>{name}</span>
          <span class="bar-list-count">{formatCount(count)}</span>
          <svg aria-hidden="true" width="100%" height="6">
            <rect class="bar-list-rail" width="100%" height="6" rx="3" />
            <rect width={`${(count / largest) * 100}%`} height="6" rx="3" />
          </svg>
        </li>
      ))}
    </ul>
  )
}
