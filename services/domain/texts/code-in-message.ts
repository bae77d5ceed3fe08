// A pattern that finds a code within one of our messages, in every language. In: `SENTENCES`. Out: a regular expression for the log's
// redaction: a vendor that refuses a message may quote its text, and the code must not reach the log.
import { SENTENCES } from './languages.ts'

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)

/** For each language, the words right before or right after the code in its short text. */
const SURROUNDINGS = Object.values(SENTENCES).map(({ short }) => {
  const [, before = '', after = ''] = /([^}]*)\{code\}([^{]*)/.exec(short) ?? []
  return after === '' ? String.raw`(?<=${escaped(before)}\d{4,10})` : `(?=${escaped(after)})`
})

export const CODE_IN_MESSAGE = new RegExp(
  String.raw`(?<!\d)\d{4,10}(?!\d)(?:${[...new Set(SURROUNDINGS)].join('|')})`,
  'g',
)
