// The figures of the period in large letters, each with its change against the period before, if that has any.
import { useId } from 'preact/hooks'
import { formatMicros } from '../../data/amounts.ts'
import { countOf, formatCount, formatSeconds, formatShare } from '../../ui/figure-format.ts'
import { type Comparison, compareCounts, compareSeconds, compareShares } from './comparison.ts'
import { type Figures, hasNoReceipts, knownOutcomes } from './figures.ts'
import { deliveryRateWords } from './messages.ts'

export interface HeadlineProps {
  /** All buckets of the period. */
  shown: Figures
  /** Those that are over, and as many before the period. */
  over: Figures
  before: Figures
  /** "24 hours". */
  range: string
}

export function Headline({ shown, over, before, range }: HeadlineProps) {
  return (
    <section class="overview-figures" aria-label="Figures of the period">
      <Figure
        name="Sends"
        value={formatCount(shown.started)}
        detail={countOf(shown.messages, 'message')}
        change={compareCounts(over.started, before.started)}
        range={range}
      />
      <Figure
        name="Approvals"
        value={formatCount(shown.approved)}
        detail={`${formatCount(shown.failed)} failed, ${formatCount(shown.expired)} expired`}
        change={compareCounts(over.approved, before.approved)}
        range={range}
      />
      <Figure
        name="Conversion"
        value={formatShare(shown.conversion)}
        detail={`${formatCount(shown.approved)} of ${countOf(shown.started, 'send')}`}
        change={compareShares(over.conversion, before.conversion)}
        good="up"
        range={range}
      />
      <Figure
        name="Delivery rate"
        value={deliveryRateWords(shown)}
        detail={deliveryDetail(shown)}
        change={compareShares(over.deliveryRate, before.deliveryRate)}
        good="up"
        range={range}
      />
      <Figure
        name="Time to approval"
        value={formatSeconds(shown.seconds)}
        // The API has the median of each hour or day: see figures.ts.
        detail="approximate median"
        change={compareSeconds(over.seconds, before.seconds)}
        good="down"
        range={range}
      />
      {(shown.spend !== 0 || before.spend !== 0) && (
        <Figure
          name="Spend"
          value={formatMicros(shown.spend ?? 0)}
          detail="less what was given back"
          change={compareCounts(over.spend ?? 0, before.spend ?? 0)}
          range={range}
        />
      )}
    </section>
  )
}

function deliveryDetail(figures: Figures): string {
  const known = knownOutcomes(figures)
  return known === 0 || hasNoReceipts(figures)
    ? 'the outcome is not known'
    : `${formatCount(figures.delivered)} of ${formatCount(known)} with a known outcome`
}

interface FigureProps {
  name: string
  value: string
  detail: string
  change: Comparison
  /** The direction that is welcome; none where either may be. */
  good?: 'up' | 'down'
  range: string
}

const ARROWS = { up: '↑', down: '↓', same: '→' }

function Figure({ name, value, detail, change: { direction, words, isSlight = false }, good, range }: FigureProps) {
  const id = useId()
  const isMove = direction === 'up' || direction === 'down'
  const tone = !isMove || isSlight || good === undefined ? '' : direction === good ? 'good' : 'bad'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div class="overview-figure" role="group" aria-labelledby={id}>
      <h2 id={id}>{name}</h2>
      <p class="overview-value">{value}</p>
      <p class="soft">{detail}</p>
      {direction && (
        <p class={`overview-change ${tone}`}>
          <span aria-hidden="true">{ARROWS[direction]} </span>
          {words}
          <span class="unseen"> against the {range} before</span>
        </p>
      )}
    </div>
  )
}
