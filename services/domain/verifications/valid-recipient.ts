// Which recipients are accepted. In: a recipient as a caller typed it. Out: the recipient in canonical form, or null;
// and what is wrong with one that is not accepted. The form of E.164 does not make a valid number, so the full metadata
// of libphonenumber decides. Email addresses follow the rules of SMTP and DNS. In test mode a magic recipient is
// accepted even if the metadata calls it invalid, except the one that plays an invalid recipient.
import { Buffer } from 'node:buffer'
import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { type Magic, magicOf } from '../../../machines/magic-recipients.ts'
import { maskEmail, maskPhone } from '../../../machines/masking.ts'
import type { Mode } from '../../../machines/otp.ts'
import { type NumberKind, refusableNumberKind } from '../../../machines/settings.ts'
import { E164 } from '../../../machines/settings.values.ts'

export type ParsedRecipient =
  | { kind: 'phone'; value: string; country: string | null; callingCode: string; numberKind?: NumberKind }
  | { kind: 'email'; value: string }

export interface CheckedRecipient {
  parsed: ParsedRecipient
  /** Null for an ordinary recipient. */
  magic: Magic | null
}

export function acceptRecipient(text: string, mode: Mode): CheckedRecipient | null {
  const found = parseRecipient(text)
  const magic = magicOf(mode, found?.value ?? text)
  if (magic && 'refuses' in magic && magic.refuses === 'InvalidRecipientError') return null
  // To the metadata the numbers among them are personal numbers, which an app may refuse.
  const parsed = magic ? magicRecipient(found?.value ?? text) : found
  return parsed && { parsed, magic }
}

const magicRecipient = (text: string): ParsedRecipient =>
  text.includes('@') ? { kind: 'email', value: text } : { kind: 'phone', value: text, country: 'US', callingCode: '1' }

/** An address may begin with a plus too, but only an address has an at sign. */
export const parseRecipient = (text: string): ParsedRecipient | null =>
  text.includes('@') ? parseEmail(text) : parsePhone(text)

/** The form in which a recipient is looked up. People write numbers with spaces, dashes and brackets, and without the plus; all of these
 *  spellings of digits have one form, whether or not they are a valid number. Other texts stay as they are. */
export function lookupForm(text: string): string {
  const parsed = parseRecipient(text)
  if (parsed !== null) return parsed.value
  const digits = text.replaceAll(SEPARATORS, '')
  return /^\d+$/.test(digits) ? `+${digits.replace(/^00/, '')}` : text
}

const SEPARATORS = /[\s+().\-/]/g

/** As the API shows it. */
export const maskRecipient = (recipient: ParsedRecipient): string =>
  recipient.kind === 'phone' ? maskPhone(recipient.value, recipient.callingCode) : maskEmail(recipient.value)

function parsePhone(text: string): ParsedRecipient | null {
  if (!E164.test(text)) return null
  const number = parsePhoneNumberFromString(text)
  // The parser corrects some mistakes. A number that it corrected is not what the caller typed, and is refused.
  // A number of a plan without kinds has no type, and can be valid. Asking for the type costs as much as asking whether it is valid.
  const type = number?.getType()
  if (!number || (type === undefined && !number.isValid()) || number.number !== text) return null
  const numberKind = NUMBER_KINDS.get(type ?? '')
  return {
    kind: 'phone',
    value: text,
    country: number.country ?? null,
    callingCode: number.countryCallingCode,
    ...(numberKind && { numberKind }),
  }
}

/** libphonenumber calls them `PREMIUM_RATE` and so on. */
const NUMBER_KINDS: ReadonlyMap<string, NumberKind> = new Map(
  [...refusableNumberKind.options, 'fixed_line' as const].map(kind => [kind.toUpperCase(), kind]),
)

const MAX_ADDRESS_BYTES = 254
const MAX_LOCAL_BYTES = 64
const MAX_DOMAIN_LENGTH = 253
/** RFC 5322 dot-atom, with the letters of other scripts that RFC 6531 allows. Quoted local parts are refused. */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

function parseEmail(text: string): ParsedRecipient | null {
  const at = text.lastIndexOf('@')
  if (at < 1 || Buffer.byteLength(text) > MAX_ADDRESS_BYTES) return null
  const local = text.slice(0, at).normalize('NFC')
  const domain = parseDomain(text.slice(at + 1))
  if (domain === null || Buffer.byteLength(local) > MAX_LOCAL_BYTES || !LOCAL_PART.test(local)) return null
  return { kind: 'email', value: `${local}@${domain}` }
}

/** In lower case and in Unicode, also when it was written in Punycode. */
function parseDomain(text: string): string | null {
  if (/[\s/\\?#@:%[\]]/.test(text) || isIP(text)) return null
  const ascii = domainToASCII(text)
  const labels = ascii.split('.')
  const fits = ascii !== '' && ascii.length <= MAX_DOMAIN_LENGTH && labels.length > 1
  if (!fits || !labels.every(label => LABEL.test(label)) || /^\d+$/.test(labels.at(-1) ?? '')) return null
  return domainToUnicode(ascii)
}

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

/** For a text that is not accepted as a recipient: what is wrong with it, in sentences for the developer who reads the refusal. They do not
 *  repeat the text, because refusals are logged. Nothing is corrected: a caller who learns the fault sends the right recipient. */
export const invalidRecipientDetail = (text: string): string =>
  [
    'It must be a valid E.164 phone number or email address.',
    ...FAULTS.filter(({ isIn }) => isIn(text)).map(({ words }) => words),
  ].join(' ')
