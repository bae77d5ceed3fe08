// Makes what a vendor said safe to store. In: the vendor's error code and text, and what must not be found in them. Out: both without
// numbers, addresses, links and codes, at most 200 characters of text. Vendors often quote the recipient, or the whole message with its
// code, in their own spelling: spaced, escaped, in the national format. So every run of digits that could be one is hidden. A gateway may
// quote the request with its password too, and what it says is shown to people who may not read the config.
import { Buffer } from 'node:buffer'
import { scrub } from '../../infra/log/scrub.ts'

/** What is known of the message. A receipt names its delivery only, so there the general rules must do. */
export interface Personal {
  recipient: string
  code: string
}

export const MAX_VENDOR_TEXT = 200
/** Longer texts are cut before they are scrubbed, at the end of a word: half a number would not be recognised. */
const MAX_SCRUBBED_LENGTH = 4_000

/** Finds the secrets of a provider's config in what its vendor says, in the usual spellings; null where there are none. */
export type SecretPattern = RegExp | null

/** A shorter value is no secret, and would be found everywhere. */
const MIN_SECRET_LENGTH = 4
/** Of a part of a secret, such as the token in the header `Bearer …` or a value in a query. */
const MIN_PART_LENGTH = 8

export function patternOfSecrets(secrets: readonly string[]): SecretPattern {
  const parts = secrets.flatMap(secret => [
    ...(secret.length < MIN_SECRET_LENGTH ? [] : [secret]),
    ...secret.split(/[\s&=:;,"'{}]+/).filter(part => part.length >= MIN_PART_LENGTH),
  ])
  const spellings = [...new Set(parts.flatMap(spellingsOf))].sort((one, other) => other.length - one.length)
  return spellings.length === 0 ? null : new RegExp(`(?:${spellings.map(escapePattern).join('|')})={0,2}`, 'giu')
}

/** As it is, normalized as `decode` leaves it, escaped for JSON, and in Base64. Percent encoding is undone before. */
const spellingsOf = (part: string): string[] => [
  part,
  part.normalize('NFKC'),
  JSON.stringify(part).slice(1, -1),
  Buffer.from(part).toString('base64').replace(/=+$/, ''),
  Buffer.from(part).toString('base64url'),
]

const hideSecrets = (text: string, secrets: SecretPattern): string =>
  secrets === null ? text : text.replace(secrets, '[hidden]')

/** Null when nothing is left to show. */
export function scrubVendorText(
  text: string | null,
  personal: Personal | null,
  secrets: SecretPattern = null,
): string | null {
  if (text === null) return null
  // Before and after decoding: a secret may hold what looks like an escape.
  const withoutSecrets = hideSecrets(decode(hideSecrets(cut(text), secrets)), secrets)
  const known = hideRecipient(scrub(withoutSecrets), personal)
  const hidden = RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), known)
  const shown = hidden.replace(/\s+/g, ' ').trim().slice(0, MAX_VENDOR_TEXT).trim()
  return shown === '' || (personal !== null && stillHolds(shown, personal)) ? null : shown
}

/** A vendor's name or number of an error: short, and never a number that could be a recipient's. */
const ERROR_CODE = /^[A-Za-z0-9][\w .:-]{0,59}$/
const MAX_DIGITS_OF_CODE = 9

export function scrubVendorCode(
  code: string | null,
  personal: Personal | null,
  secrets: SecretPattern = null,
): string | null {
  if (code === null || !ERROR_CODE.test(code) || digitsOf(code).length > MAX_DIGITS_OF_CODE) return null
  if (hideSecrets(code, secrets) !== code) return null
  return personal !== null && stillHolds(code, personal) ? null : code
}

const cut = (text: string): string =>
  text.length <= MAX_SCRUBBED_LENGTH ? text : text.slice(0, MAX_SCRUBBED_LENGTH).replace(/\S*$/, '')

/** Undoes the spellings that would keep a rule from matching: percent encoding (twice: a text may quote an address that was encoded), HTML
 *  entities, full-width digits and invisible characters. */
function decode(text: string): string {
  const plain = decodePercent(decodePercent(text))
  return plain
    .replace(/&(?:#\w{1,8}|[a-z]{1,8});/gi, ' ')
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\p{Cc}/gu, ' ')
}

const decodePercent = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The part before the @ is a name of a person, also when the vendor leaves out the rest. Vendors leave out what follows a plus in it, too. */
function hideRecipient(text: string, personal: Personal | null): string {
  if (personal === null || !personal.recipient.includes('@')) return text
  const { recipient } = personal
  const local = recipient.slice(0, recipient.lastIndexOf('@')).normalize('NFKC')
  const names = [local, local.split('+')[0] ?? ''].filter(name => name !== '').map(escapePattern)
  return text
    .replace(new RegExp(escapePattern(recipient.normalize('NFKC')), 'giu'), '[email]')
    .replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${names.join('|')})(?![\\p{L}\\p{N}])`, 'giu'), '[email]')
}

/** The characters that mean something in a pattern. A pattern with the flag `u` refuses to escape any other. */
const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** Applied in this order. Every repetition is bounded, or of characters that cannot begin the next one. */
const RULES: readonly [pattern: RegExp, replacement: string][] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+|\bwww\.\S+/gi, '[url]'],
  [/[^\s@]{0,100}@\S*/g, '[email]'],
  // A token or an id of the vendor's: long, and with a digit in it.
  [/(?=[\w+/=-]{0,200}\d)[\w+/=-]{20,}/g, '[hidden]'],
  // Four digits or more, with up to three signs between two of them: a code, a phone number in any spelling, or a part of one.
  [/\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){3,}/gu, '[number]'],
]

/** The last check, against what the rules do not foresee: the digits that are left, read in one go. */
function stillHolds(text: string, { recipient, code }: Personal): boolean {
  const left = digitsOf(text)
  const parts = [digitsOf(code), digitsOf(recipient).slice(-6)].filter(part => part.length >= 4)
  const quotes = code !== '' && text.toLowerCase().includes(code.toLowerCase())
  return quotes || parts.some(part => left.includes(part))
}

const digitsOf = (text: string): string => text.replace(/\D/g, '')
