// Amounts of money. In: micro-units, as the API counts them, or what a person typed. Out: the amount with up to six decimals, and back,
// without a rounding error. Countersign knows no currency. Thousands are set apart by a narrow space, because a comma is a decimal sign
// to half of the world.

const DECIMALS = 6
/** Amounts have at least so many. */
const SHOWN_DECIMALS = 2
const NARROW_SPACE = '\u202f'
const MINUS = '−'

/** `1 234.50`, `−0.04`, `0.000001`. */
export function formatMicros(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(DECIMALS + 1, '0')
  const whole = digits.slice(0, -DECIMALS).replaceAll(/\B(?=(\d{3})+$)/g, NARROW_SPACE)
  const decimals = digits.slice(-DECIMALS).replace(/0+$/, '').padEnd(SHOWN_DECIMALS, '0')
  return `${micros < 0 ? MINUS : ''}${whole}.${decimals}`
}

/** With a plus, for changes of a balance. */
export const formatChange = (micros: number): string => (micros > 0 ? `+${formatMicros(micros)}` : formatMicros(micros))

/** What goes into a field, to be edited: without spaces. */
export const editableMicros = (micros: number): string =>
  formatMicros(micros).replaceAll(NARROW_SPACE, '').replace(MINUS, '-')

export type ParsedAmount = { micros: number } | { error: string }

const AMOUNT = /^([+\-−]?)(\d+)(?:\.(\d*))?$/

/** In: what a person typed. Out: micro-units, or what is wrong with it in words. */
export function parseAmount(text: string): ParsedAmount {
  const typed = text.replaceAll(/[\s\u00a0\u202f]/g, '')
  if (typed === '') return { error: 'Enter an amount, such as 12.50.' }
  if (typed.includes(',')) return { error: 'Use a point for decimals and no commas, such as 1234.50.' }
  const [, sign, whole = '', decimals = ''] = AMOUNT.exec(/^\.\d/.test(typed) ? `0${typed}` : typed) ?? []
  if (whole === '') return { error: 'Enter an amount in digits, such as 12.50.' }
  if (decimals.length > DECIMALS) return { error: 'An amount has six decimals at most.' }
  const micros = Number(`${whole}${decimals.padEnd(DECIMALS, '0')}`)
  if (!Number.isSafeInteger(micros)) return { error: 'The amount is too large.' }
  const isNegative = sign === '-' || sign === MINUS
  return { micros: isNegative && micros !== 0 ? -micros : micros }
}
