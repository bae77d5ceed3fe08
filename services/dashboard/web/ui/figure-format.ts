// Figures in words. In: a count, a share or a time. Out: a text in the viewer's notation.

/** What stands where there is no figure. */
export const NO_FIGURE = '–'

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const oneDigit = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })
const wholePercent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 })

export const formatCount = (count: number): string => whole.format(count)

/** For axes: 1.2K in place of 1,200. */
export const formatCompact = (count: number): string => compact.format(count)

/** With one digit after the point, where it is not zero. */
export const formatDecimal = (figure: number): string => oneDigit.format(figure)

/** A share between 0 and 1. */
export const formatShare = (share: number | null): string => (share === null ? NO_FIGURE : percent.format(share))

export const formatWholeShare = (share: number): string => wholePercent.format(share)

/** `5 s`, `2 min 10 s`, `3 h 5 min`, `2 d 4 h`: the two largest units. */
export function formatSeconds(seconds: number | null): string {
  if (seconds === null) return NO_FIGURE
  const all = Math.round(seconds)
  const parts: [amount: number, unit: string][] = [
    [Math.floor(all / 86_400), 'd'],
    [Math.floor(all / 3_600) % 24, 'h'],
    [Math.floor(all / 60) % 60, 'min'],
    [all % 60, 's'],
  ]
  const first = parts.findIndex(([amount]) => amount > 0)
  if (first === -1) return '0 s'
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0)
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(' ')
}

/** `1 dead letter`, `2 dead letters`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`
