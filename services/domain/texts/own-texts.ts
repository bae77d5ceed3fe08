// An app's own texts. In: the settings. Out: the text of a message, if the app has one; and what is wrong with texts that are being set.
// Pure: the dashboard's preview uses it too.
import { SECOND_MS } from '../../../infra/time.ts'
import { chooseLocale } from '../../../machines/locale.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { smsSegments } from '../../../machines/sms-segments.ts'
import type { InputProblem } from '../tenancy/problems.ts'
import { fill, filledLength, PLACEHOLDER } from './fill.ts'
import {
  type ChosenText,
  endingOf,
  LANGUAGES,
  type MessageInput,
  minutesInText,
  renderMessage,
  type TextEnding,
} from './message-text.ts'

type TextSettings = Pick<AppSettings, 'texts' | 'locale'>

/** Null where the built-in text is used: also where it fits the wanted language better. */
export function ownTextFor(
  { texts, locale: fallback }: TextSettings,
  channel: MessageInput['channel'],
  wanted: string | null,
): ChosenText | null {
  if (channel === 'telegram') return null
  const own = texts[channel]
  const languages = Object.keys(own)
  if (languages.length === 0) return null
  const locale = chooseLocale(wanted, fallback, [...LANGUAGES, ...languages])
  const text = own[locale]
  return text ? { ...text, locale } : null
}

const MAX_SMS_SEGMENTS = 2
/** What Meta takes in a WhatsApp message. */
const MAX_MESSAGE_LENGTH = 4_096
const KNOWN = new Set(['code', 'app', 'minutes'])

/** An address, or a word that phones make a link of. The ideographic full stop separates labels of a domain too, but
 *  ends sentences as well: it makes a link between Latin letters only, or before a path. */
const LINK =
  /:\/\/|\bwww\.|[\p{L}\p{N}-]\.\p{L}{2,}|\b\d{1,3}(?:\.\d{1,3}){3}\b|(?<=[a-z][a-z\d-]*)。[a-z]{2,}|[a-z\d]。[a-z]{2,}\//iu

/** As a phone reads it: letters and dots of other widths are plain ones, and characters that are not shown separate nothing. Takes time in
 *  proportion to the text. */
export const hasLink = (text: string): boolean => LINK.test(asRead(text))

const asRead = (text: string): string => text.normalize('NFKC').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')

/** The problems of all own texts, by path in the settings. `app`: its name, which is part of a message. */
export function ownTextProblems(
  settings: Pick<AppSettings, 'texts' | 'text_links' | 'code' | 'channels'>,
  app: string,
): InputProblem[] {
  const { sms, whatsapp, email } = settings.texts
  const problems: InputProblem[] = []
  const report = (path: string, message: string | null): void => {
    if (message !== null) problems.push({ path, message })
  }
  for (const [channel, texts] of [
    ['sms', sms],
    ['whatsapp', whatsapp],
  ] as const)
    for (const [locale, own] of Object.entries(texts)) {
      const input = {
        channel,
        locale,
        app,
        ending: longestEnding(settings.channels.sms),
        ...longestValues(settings),
        own: { ...own, locale },
      }
      const values = { code: input.code, app, minutes: String(input.minutes) }
      report(
        `texts.${channel}.${locale}.text`,
        templateProblem(own.text) ??
          // First: a short text can repeat a long name.
          tooLong(filledLength(own.text, values)) ??
          (!settings.text_links && hasLink(fill(own.text, values))
            ? 'has a link, or a word that phones take for one, with the name of the app: allow links with text_links'
            : null) ??
          (channel === 'sms' ? tooManySegments(renderMessage(input).text) : null),
      )
    }
  for (const [locale, { text, subject, html }] of Object.entries(email)) {
    const path = `texts.email.${locale}`
    report(`${path}.text`, templateProblem(text))
    if (subject !== null) report(`${path}.subject`, unknownPlaceholder(subject))
    if (html !== null) report(`${path}.html`, templateProblem(html) ?? misplacedPlaceholder(html))
  }
  return problems
}

/** For the count of segments: the line of a domain has the code besides, and a send may name any of them. */
const longestEnding = (sms: AppSettings['channels']['sms']): TextEnding | null => {
  const [domain] = sms.domains.toSorted((one, other) => other.length - one.length)
  return endingOf(sms, domain === undefined ? {} : { domain })
}

/** For the count of segments. */
const longestValues = ({ code }: Pick<AppSettings, 'code'>): { code: string; minutes: number } => ({
  code: '0'.repeat(code.length),
  minutes: minutesInText(code.ttl_seconds * SECOND_MS),
})

function tooManySegments(text: string): string | null {
  const { segments } = smsSegments(text)
  if (segments <= MAX_SMS_SEGMENTS) return null
  return `takes ${segments} SMS segments with code, app name and domain line, and may take ${MAX_SMS_SEGMENTS}`
}

const tooLong = (length: number): string | null =>
  length <= MAX_MESSAGE_LENGTH
    ? null
    : `has ${length} characters with code and app name, and may have ${MAX_MESSAGE_LENGTH}`

const templateProblem = (template: string): string | null =>
  template.includes('{code}') ? unknownPlaceholder(template) : 'has no {code}: the code must be in the message'

function unknownPlaceholder(template: string): string | null {
  for (const [placeholder, name = ''] of template.matchAll(PLACEHOLDER))
    if (!KNOWN.has(name)) return `has the unknown placeholder ${placeholder}: use {code}, {app} and {minutes}`
  return null
}

/** Comments, elements whose content is no markup, and tags. A piece that does not end goes to the end: rather too much than too little. */
const NOT_TEXT =
  /<!--[\s\S]*?(?:-->|$)|<(script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|template)\b[\s\S]*?(?:<\/\1\s*>|$)|<[a-z/!?](?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^"'>])*(?:>|$)/gi

/** Escaping makes a value safe in the text of an element. In a tag, a script or a style it would not. */
function misplacedPlaceholder(html: string): string | null {
  for (const [markup] of html.matchAll(NOT_TEXT))
    for (const [placeholder] of markup.matchAll(PLACEHOLDER))
      return `has ${placeholder} in a tag, a comment, a script, a style or a title: placeholders stand in the text`
  return null
}
