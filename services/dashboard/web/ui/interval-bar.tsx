// A share with the interval in which it lies, as a bar with a whisker. The drawing repeats the figures, so it is hidden from readers.
import { formatWholeShare } from './figure-format.ts'
import './interval-bar.css'

export interface IntervalBarProps {
  /** From 0 to 1. */
  share: number
  low: number
  high: number
  isBad?: boolean
}

const at = (share: number): string => `${share * 100}%`

export const IntervalBar = ({ share, low, high, isBad = false }: IntervalBarProps) => (
  <div class={isBad ? 'interval-bar interval-bar-bad' : 'interval-bar'}>
    <b>{formatWholeShare(share)}</b>{' '}
    <span class="soft">
      {formatWholeShare(low)} to {formatWholeShare(high)}
    </span>
    <svg aria-hidden="true" width="100%" height="14">
      <rect class="interval-bar-rail" y="4" width="100%" height="6" rx="3" />
      <rect y="4" width={at(share)} height="6" rx="3" />
      <line x1={at(low)} x2={at(high)} y1="7" y2="7" />
      <line x1={at(low)} x2={at(low)} y1="2" y2="12" />
      <line x1={at(high)} x2={at(high)} y1="2" y2="12" />
    </svg>
  </div>
)
