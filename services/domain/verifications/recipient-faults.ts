// In: a text that is not accepted as a recipient. Out: what is wrong with it, in sentences for the developer who reads the refusal. They
// do not repeat the text, because refusals are logged. Nothing is corrected: a caller who learns the fault sends the right recipient.

interface Fault {
  isIn(text: string): boolean
  words: string
}

const looksLikeNumber = (text: string): boolean => /^[\s\d+().\-/]{5,}$/.test(text) && /\d/.test(text)

const FAULTS: readonly Fault[] = [
  { isIn: text => text.trim() === '', words: 'It is empty.' },
  { isIn: text => text.trim() !== '' && text !== text.trim(), words: 'There is white space around it.' },
  {
    isIn: text => /^\s*(tel|sms|mailto):/i.test(text),
    words: 'It begins with the scheme of a link, such as tel: or mailto:.',
  },
  { isIn: text => /<.*>/.test(text), words: 'There is a name around the address.' },
  {
    isIn: text => text.split(/[,;\s]+/).filter(part => /.@./.test(part) || /^\+\d{6}/.test(part)).length > 1,
    words: 'There are two addresses or numbers in it, and a send goes to one.',
  },
  {
    isIn: text => looksLikeNumber(text) && !text.trim().startsWith('+'),
    words: 'It has no plus: a number begins with + and the code of its country.',
  },
  {
    isIn: text => looksLikeNumber(text) && /[\s().\-/]/.test(text.trim()),
    words: 'It has spaces, hyphens or other characters between its digits.',
  },
  { isIn: text => looksLikeNumber(text) && /\+.*\+/.test(text), words: 'It has more than one plus.' },
  {
    isIn: text => /^\+\d+$/.test(text),
    words: 'It begins as a number should, but no country has numbers like it.',
  },
]

export const invalidRecipientDetail = (text: string): string =>
  [
    'It must be a valid E.164 phone number or email address.',
    ...FAULTS.filter(({ isIn }) => isIn(text)).map(({ words }) => words),
  ].join(' ')
