// Writes the text of a message. In: a channel, a language, the app's name and the code. Out: a text; for mail also a subject and HTML. Pure:
// the channel actor sends it and the sandbox inbox shows it, and both must get the same text. languages.ts says how to add a language.
import type { Channel } from '../../../machines/channels.ts'
import type { SmsSettings } from '../../../machines/settings.ts'
import { fill } from './fill.ts'
import { CHAT_SENTENCES, type ChatSentences } from './languages.chat.ts'
import { SENTENCES, type Sentences } from './languages.ts'
import { renderMailHtml } from './mail-html.ts'

/** The languages we have texts in, as BCP 47 tags. */
export const LANGUAGES: readonly string[] = Object.keys(SENTENCES)

export interface MessageInput {
  channel: Channel
  /** One of `LANGUAGES`; any other gets English. */
  locale: string
  app: string
  code: string
  minutes: number
  sms: Pick<SmsSettings, 'domain' | 'android_hash'>
}

export interface MessageText {
  text: string
  /** Null except for mail. */
  subject: string | null
  /** Null except for mail. */
  html: string | null
}

export function renderMessage({ channel, locale, app, code, minutes, sms }: MessageInput): MessageText {
  const language = languageOf(locale)
  const sentences = SENTENCES[language] as Sentences
  const { short, valid, notRequested } = sentences
  const values = { app, code, minutes: String(minutes) }
  const fillLines = (...lines: string[]): string => fill(lines.join('\n'), values)
  if (channel === 'sms') return plainMessage([fillLines(short), ...autofillLines(sms, code)].join('\n'))
  if (channel !== 'email') return plainMessage(fillLines(short, valid))
  const subject = fillLines(short)
  const html = renderMailHtml({ locale: language, sentences, subject, ...values })
  return { text: fillLines(short, '', valid, notRequested), subject, html }
}

const plainMessage = (text: string): MessageText => ({ text, subject: null, html: null })

/** The text that a wa.me link fills in for the user: "I am signing in", or "please send me my code". */
export function linkText(locale: string, mode: 'link_inbound' | 'link_code', app: string, reference: string): string {
  const { confirms, requests, reference: referenceLine } = chatSentences(locale)
  return fill(`${mode === 'link_inbound' ? confirms : requests}\n${referenceLine}`, { app, reference })
}

/** Our reply after the user's own message has approved. */
export const approvedText = (locale: string, app: string): string => fill(chatSentences(locale).approved, { app })

const languageOf = (locale: string): string => (Object.hasOwn(SENTENCES, locale) ? locale : 'en')
const chatSentences = (locale: string): ChatSentences => CHAT_SENTENCES[languageOf(locale)] as ChatSentences

/** Android finds its hash on any line; browsers read the domain and the code from the last line only. */
function autofillLines({ domain, android_hash }: MessageInput['sms'], code: string): string[] {
  const lines = [...(android_hash === null ? [] : [android_hash]), ...(domain === null ? [] : [`@${domain} #${code}`])]
  return lines.length === 0 ? [] : ['', ...lines]
}
