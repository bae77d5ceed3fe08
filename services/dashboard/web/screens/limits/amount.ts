// Amounts of money as people write them. In: micro-units, or a text such as "25" or "0.50". Out: the text, or the micro-units. Pure: it counts
// in digits, because 0.29 is no exact number in binary.
import type { Notation } from '../../data/notation.ts'

const DECIMALS = 6
const AMOUNT = /^\s*(\d{1,9})(?:[.,](\d{1,6}))?\s*$/

export const amount: Notation<number> = {
  parse(text) {
    const [, units, decimals = ''] = AMOUNT.exec(text) ?? []
    return units === undefined ? null : Number(units + decimals.padEnd(DECIMALS, '0'))
  },
  format(micros) {
    const digits = String(micros).padStart(DECIMALS + 1, '0')
    const units = digits.slice(0, -DECIMALS)
    const decimals = digits.slice(-DECIMALS).replace(/0+$/, '')
    return decimals === '' ? units : `${units}.${decimals.padEnd(2, '0')}`
  },
}
