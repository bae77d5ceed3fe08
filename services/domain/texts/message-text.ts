// The words of a message. In: a channel, one of our languages, the code and whose it is. Out: a text, and for mail a subject and
// the same as HTML. Pure: the channel actor says it and the sandbox inbox shows it, so it must come out the same for both.
import type { Channel } from '../../../machines/channels.ts'
import type { SmsSettings } from '../../../machines/settings.ts'
import { fill } from './fill.ts'
import { CHAT_SENTENCES, type ChatSentences } from './languages.chat.ts'
import { SENTENCES, type Sentences } from './languages.ts'
import { renderMailHtml } from './mail-html.ts'

/** The languages there are texts in. */
export const LANGUAGES: readonly string[] = Object.keys(SENTENCES)

export interface MessageInput {
  channel: Channel
  /** One of `LANGUAGES`; any other is English. */
  locale: string
  app: string
  code: string
  minutes: number
  sms: Pick<SmsSettings, 'domain' | 'android_hash'>
}

export interface MessageText {
  text: string
  /** Null where messages have none. */
  subject: string | null
  /** Null where messages are plain. */
  html: string | null
}

export function renderMessage({ channel, locale, app, code, minutes, sms }: MessageInput): MessageText {
  const language = languageOf(locale)
  const sentences = SENTENCES[language] as Sentences
  const { short, valid, unasked } = sentences
  const values = { app, code, minutes: String(minutes) }
  const fillLines = (...lines: string[]): string => fill(lines.join('\n'), values)
  if (channel === 'sms') return plainMessage([fillLines(short), ...autofillLines(sms, code)].join('\n'))
  if (channel !== 'email') return plainMessage(fillLines(short, valid))
  const subject = fillLines(short)
  const html = renderMailHtml({ locale: language, sentences, subject, ...values })
  return { text: fillLines(short, '', valid, unasked), subject, html }
}

const plainMessage = (text: string): MessageText => ({ text, subject: null, html: null })

/** What a wa.me link has the user say: that it is they who sign in, or that they want their code. */
export function linkText(locale: string, mode: 'link_inbound' | 'link_code', app: string, reference: string): string {
  const { confirms, requests, reference: referenceLine } = chatSentences(locale)
  return fill(`${mode === 'link_inbound' ? confirms : requests}\n${referenceLine}`, { app, reference })
}

/** Our answer when the user's own message has approved. */
export const approvedText = (locale: string, app: string): string => fill(chatSentences(locale).approved, { app })

const languageOf = (locale: string): string => (Object.hasOwn(SENTENCES, locale) ? locale : 'en')
const chatSentences = (locale: string): ChatSentences => CHAT_SENTENCES[languageOf(locale)] as ChatSentences

/** Android looks for its hash anywhere; browsers read the address and the code on the last line only. */
function autofillLines({ domain, android_hash }: MessageInput['sms'], code: string): string[] {
  const lines = [...(android_hash === null ? [] : [android_hash]), ...(domain === null ? [] : [`@${domain} #${code}`])]
  return lines.length === 0 ? [] : ['', ...lines]
}
