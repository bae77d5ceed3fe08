// Figures in words. In: a count, a share or a time. Out: a text in the viewer's notation.
import { shortDuration } from '../data/duration.ts'

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

export const formatSeconds = (seconds: number | null): string => (seconds === null ? NO_FIGURE : shortDuration(seconds))

/** `1 dead letter`, `2 dead letters`. */
export const countOf = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`
