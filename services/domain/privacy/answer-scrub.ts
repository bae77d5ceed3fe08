// Makes what a vendor or an endpoint answered safe to store. In: a vendor's error code, a text, and what must not be found in them. Out:
// both without numbers, addresses, links and codes, and the text cut. Vendors often quote the recipient, or the whole message with its
// code, in their own spelling: spaced, escaped, in the national format. So every run of digits that could be one is hidden. A gateway may
// quote the request with its password too, and what it says is shown to people who may not read the config.
import { Buffer } from 'node:buffer'
import { scrub } from '../../../infra/log/scrub.ts'

/** What is known of the person. A receipt names its delivery only, so there the general rules must do. */
export interface Personal {
  recipient: string
  /** Empty where it is not known. */
  code: string
}

export const MAX_VENDOR_TEXT = 200
/** So much is kept of an endpoint's answer. Longer than a vendor's: its owner looks there for why events are refused. */
export const MAX_ENDPOINT_TEXT = 2_048
/** Longer texts are cut before they are scrubbed, at the end of a word: half a number would not be recognised. */
const MAX_SCRUBBED_LENGTH = 4_000

/** Finds the secrets of a provider's config, or of an endpoint, in what it answers, in the usual spellings; null where there are none. */
export type SecretPattern = RegExp | null

/** A shorter value is no secret, and would be found everywhere. */
const MIN_SECRET_LENGTH = 4
/** The least length of a part of a secret, such as the token in the header `Bearer …` or a value in a query. */
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
export function scrubAnswerText(
  text: string | null,
  personal: Personal | null,
  secrets: SecretPattern = null,
  maxLength = MAX_VENDOR_TEXT,
): string | null {
  if (text === null) return null
  // Before and after decoding: a secret may hold what looks like an escape.
  const withoutSecrets = hideSecrets(decode(hideSecrets(cut(text), secrets)), secrets)
  const names = namesOf(personal)
  const withoutBase64 = withoutSecrets.replace(BASE64_WITH_END, run => (hidesInBase64(run, names) ? '[hidden]' : run))
  const known = hideRecipient(scrub(withoutBase64), personal)
  const hidden = RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), known)
  const shown = hidden.replace(/\s+/g, ' ').trim().slice(0, maxLength).trim()
  if (shown === '' || (personal !== null && stillHolds(shown, personal))) return null
  // Base64 may be broken by white space, too.
  return hidesInBase64(shown.replaceAll(' ', ''), names) ? null : shown
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
  if (hideSecrets(code, secrets) !== code || hidesInBase64(code, namesOf(personal))) return null
  return personal !== null && stillHolds(code, personal) ? null : code
}

const cut = (text: string): string =>
  text.length <= MAX_SCRUBBED_LENGTH ? text : text.slice(0, MAX_SCRUBBED_LENGTH).replace(/\S*$/, '')

/** Undoes the spellings that would keep a rule from matching: percent encoding (twice: a text may quote an address that was encoded), HTML
 *  entities, full-width digits and invisible characters. */
function decode(text: string): string {
  const plain = decodePercent(decodePercent(text))
  return (
    plain
      .replace(/&(?:#\w{1,8}|[a-z]{1,8});/gi, ' ')
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      .replace(/\p{Cc}/gu, ' ')
      // A page may show each digit in an element of its own.
      .replace(/(?<=\p{Nd})\s{0,5}(?:<[^<>]{0,100}>\s{0,5}){1,10}(?=\p{Nd})/gu, ' ')
  )
}

const decodePercent = (text: string): string =>
  text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** What is short is in too many words. */
const MIN_NAME_LENGTH = 3
const MIN_NAME_LENGTH_WITHIN_WORDS = 6

/** Of a mailbox: what is before the @, and before a plus in it. */
function namesOf(personal: Personal | null): string[] {
  if (personal === null || !personal.recipient.includes('@')) return []
  const local = personal.recipient.slice(0, personal.recipient.lastIndexOf('@')).toLowerCase()
  return [...new Set([local, local.split('+')[0] ?? ''])].filter(name => name.length >= MIN_NAME_LENGTH)
}

/** As short as that of a code of four digits. */
const BASE64 = /[\w+/-]{6,}/g
const BASE64_WITH_END = /[\w+/-]{6,}={0,2}/g
const MAX_BASE64_LAYERS = 2

/** Whether Base64 in the text, from any of its characters on, reads as four digits in a row or a name. */
function hidesInBase64(text: string, names: readonly string[], layers = MAX_BASE64_LAYERS): boolean {
  for (const [run] of text.matchAll(BASE64))
    for (let offset = 0; offset < 4; offset += 1) {
      const read = Buffer.from(run.slice(offset), 'base64')
      const bytes = read.toString('latin1')
      if (/\d{4}/.test(bytes)) return true
      const words = read.toString('utf8').toLowerCase()
      if (names.some(name => words.includes(name))) return true
      if (layers > 1 && hidesInBase64(bytes, names, layers - 1)) return true
    }
  return false
}

/** The part before the @ is a name of a person, also when the vendor leaves out the rest. Vendors leave out what
 *  follows a plus in it, too. */
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
  return (
    quotes || holdsName(text.toLowerCase(), namesOf({ recipient, code })) || parts.some(part => left.includes(part))
  )
}

/** With signs or elements between the letters, backwards, or in hexadecimal digits. */
function holdsName(text: string, names: readonly string[]): boolean {
  const texts = [text, text.replace(/<[^<>]{0,100}>/g, '')]
  const letters = texts.map(lettersOf)
  return names.some(name => {
    const own = lettersOf(name)
    const spellings = [own, [...own].reverse().join('')]
    const isLong = own.length >= MIN_NAME_LENGTH_WITHIN_WORDS
    const isWithin = isLong && letters.some(one => spellings.some(spelling => one.includes(spelling)))
    const isWord = own !== '' && spellings.some(spelling => texts.some(one => wordPattern(spelling).test(one)))
    return isWithin || isWord || text.replace(/\s/g, '').includes(Buffer.from(name).toString('hex'))
  })
}

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '')

const wordPattern = (letters: string): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])${[...letters].join('[^\\p{L}\\p{N}]{0,9}')}(?![\\p{L}\\p{N}])`, 'u')

const digitsOf = (text: string): string => text.replace(/\D/g, '')
