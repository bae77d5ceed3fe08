// How a value is written in a field. In: the value, or what a person typed. Out: the text, or the value. Pure.

import { editableMicros } from './amounts.ts'

export interface Notation<T> {
  /** Null where the text is no such value. */
  parse(text: string): T | null
  format(value: T): string
}

export const wholeNumber: Notation<number> = {
  parse: text => (/^\s*-?\d{1,15}\s*$/.test(text) ? Number(text) : null),
  format: String,
}

/** A share from 0 to 1, written in percent. */
export const percent: Notation<number> = {
  parse(text) {
    const [, digits] = /^\s*(\d{1,3}(?:[.,]\d{1,4})?)\s*%?\s*$/.exec(text) ?? []
    // Rounded, because 0.29 times 100 is not 29 in binary.
    return digits === undefined ? null : Math.round(Number(digits.replace(',', '.')) * 1e4) / 1e6
  },
  format: share => String(Math.round(share * 1e6) / 1e4),
}

/** One value per line. */
export const lines: Notation<string[]> = {
  parse: text =>
    text
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== ''),
  format: values => values.join('\n'),
}

/** A text of which nothing is the same as none. */
export const optionalText: Notation<string | null> = {
  parse: text => (text.trim() === '' ? null : text.trim()),
  format: value => value ?? '',
}

/** The decimals of a unit, in micro-units. */
const DECIMALS = 6
const AMOUNT = /^\s*(\d{1,9})(?:[.,](\d{1,6}))?\s*$/

/** Micro-units, written as units such as "25" or "0.50". It counts in digits, because 0.29 is no exact number in binary. */
export const amount: Notation<number> = {
  parse(text) {
    const [, units, decimals = ''] = AMOUNT.exec(text) ?? []
    return units === undefined ? null : Number(units + decimals.padEnd(DECIMALS, '0'))
  },
  format: micros => editableMicros(micros).replace(/\.00$/, ''),
}
