// Writes the text of a message. In: a channel, a language, the app's name and the code. Out: a text; for mail also a
// subject and HTML. Pure: the channel actor sends it and the sandbox inbox shows it, and both must get the same text.
// languages.ts says how to add a language.
import { MINUTE_MS } from '../../../infra/time.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { SendText } from '../../../machines/otp.ts'
import type { SmsSettings } from '../../../machines/settings.ts'
import { fill } from './fill.ts'
import { CHAT_SENTENCES, type ChatSentences } from './languages.chat.ts'
import { SENTENCES, type Sentences } from './languages.ts'
import { renderMailHtml, renderOwnMailHtml } from './mail-html.ts'

/** The languages we have texts in, as BCP 47 tags. */
export const LANGUAGES: readonly string[] = Object.keys(SENTENCES)

export interface MessageInput {
  channel: Channel
  /** One of `LANGUAGES`; any other gets English. */
  locale: string
  app: string
  code: string
  /** How long the code is valid. Null where that is not known: then nothing is said of it, and an own text that would
   *  say it is not used. */
  minutes: number | null
  /** What an SMS ends with; null: nothing. */
  ending: TextEnding | null
  /** The app's own text, as `ownTextFor` chooses it; null or absent: the built-in one. */
  own?: ChosenText | null
}

/** Android finds its hash on any line; browsers read the domain and the code from the last line only. A text has one of the two. */
export type TextEnding = { app_hash: string } | { domain: string }

/** `named`: what the send says. */
export function endingOf(
  { domains, android_hashes }: Pick<SmsSettings, 'domains' | 'android_hashes'>,
  named: SendText = {},
): TextEnding | null {
  if (named.app_hash !== undefined) return { app_hash: named.app_hash }
  const domain = named.domain ?? domains[0]
  if (domain !== undefined) return { domain }
  const [app_hash] = android_hashes
  return app_hash === undefined ? null : { app_hash }
}

/** A text with `{code}`, `{app}` and `{minutes}`. */
export interface TextTemplate {
  text: string
  /** For mail. Without it, the built-in one. */
  subject?: string | null
  /** For mail: a document, or what stands in the body of one. Without it, it is made of the text. */
  html?: string | null
}

export type ChosenText = TextTemplate & { locale: string }

export interface MessageText {
  text: string
  /** Null except for mail. */
  subject: string | null
  /** Null except for mail. */
  html: string | null
}

/** How long a code is valid, as a text says it: rounded down, so that it does not promise more time than there is. */
export const minutesInText = (validMs: number): number => Math.max(1, Math.floor(validMs / MINUTE_MS))

export function renderMessage({
  channel,
  locale,
  app,
  code,
  minutes,
  ending,
  own: given = null,
}: MessageInput): MessageText {
  const own = given !== null && minutes === null && saysMinutes(given) ? null : given
  const builtIn = builtInText(channel, locale, minutes !== null)
  const template = own ?? builtIn
  const values = { app, code, ...(minutes !== null && { minutes: String(minutes) }) }
  const text = fill(template.text, values)
  if (channel === 'sms') return plainMessage([text, ...endingLines(ending, code)].join('\n'))
  if (channel !== 'email') return plainMessage(text)
  // A line break in an app's name must not add a header.
  const subject = fill(template.subject ?? builtIn.subject ?? '', values).replaceAll(/\p{Cc}+/gu, ' ')
  const mail = { locale: own?.locale ?? languageOf(locale), subject, ...values }
  const html = own
    ? renderOwnMailHtml({ ...mail, text: own.text, html: own.html ?? null })
    : renderMailHtml({ ...mail, sentences: sentencesOf(locale), saysLife: minutes !== null })
  return { text, subject, html }
}

/** The text of an app that has none of its own, and the beginning of one that it writes. */
export function builtInText(channel: Channel, locale: string, saysLife = true): TextTemplate {
  const { short, valid, notRequested } = sentencesOf(locale)
  if (channel === 'sms') return { text: short }
  const life = saysLife ? [valid] : []
  if (channel !== 'email') return { text: [short, ...life].join('\n') }
  return { text: [short, '', ...life, notRequested].join('\n'), subject: short }
}

const saysMinutes = ({ text, subject, html }: TextTemplate): boolean =>
  [text, subject, html].some(part => part?.includes('{minutes}'))

const sentencesOf = (locale: string): Sentences => SENTENCES[languageOf(locale)] as Sentences

const plainMessage = (text: string): MessageText => ({ text, subject: null, html: null })

/** The text that a wa.me link fills in for the user: "I am signing in", or "please send me my code". */
export function linkText(locale: string, mode: 'link_inbound' | 'link_code', app: string, reference: string): string {
  const { confirms, requests, reference: referenceLine } = chatSentences(locale)
  return fill(`${mode === 'link_inbound' ? confirms : requests}\n${referenceLine}`, { app, reference })
}

/** Our reply after the user's own message has approved. */
export const approvedText = (locale: string, app: string): string => fill(chatSentences(locale).approved, { app })

/** Asks a user who hides their number for it; WhatsApp adds a button. */
export const contactRequestText = (locale: string, app: string): string =>
  fill(chatSentences(locale).asksContact, { app })

const languageOf = (locale: string): string => (Object.hasOwn(SENTENCES, locale) ? locale : 'en')
const chatSentences = (locale: string): ChatSentences => CHAT_SENTENCES[languageOf(locale)] as ChatSentences

function endingLines(ending: TextEnding | null, code: string): string[] {
  if (ending === null) return []
  return ['', 'app_hash' in ending ? ending.app_hash : `@${ending.domain} #${code}`]
}
