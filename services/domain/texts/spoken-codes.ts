// Finds a code in a text as our own messages say it, in every language: a vendor that refuses a message likes to quote it, and the quote
// must not reach the log.
import { SENTENCES } from './languages.ts'

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)

/** The words right before or right after the code in each language's short text. */
const SURROUNDINGS = Object.values(SENTENCES).map(({ short }) => {
  const [, before = '', after = ''] = /([^}]*)\{code\}([^{]*)/.exec(short) ?? []
  return after === '' ? String.raw`(?<=${escaped(before)}\d{4,8})` : `(?=${escaped(after)})`
})

export const SPOKEN_CODE = new RegExp(String.raw`(?<!\d)\d{4,8}(?!\d)(?:${[...new Set(SURROUNDINGS)].join('|')})`, 'g')
