// The words of a message. In: a channel, one of our languages, the code and whose it is. Out: a text, and a subject for mail.
// Pure: the channel actor says it and the sandbox inbox shows it, so it must come out the same for both.
import type { Channel } from '../../machines/channels.ts'
import type { SmsSettings } from '../../machines/settings.ts'
import { SENTENCES, type Sentences } from './languages.ts'

/** The languages there are texts in. */
export const LANGUAGES: readonly string[] = Object.keys(SENTENCES)

export interface Wording {
  channel: Channel
  /** One of `LANGUAGES`; any other is English. */
  locale: string
  app: string
  code: string
  minutes: number
  sms: Pick<SmsSettings, 'domain' | 'android_hash'>
}

export interface Worded {
  text: string
  /** Null where messages have none. */
  subject: string | null
}

export function wording({ channel, locale, app, code, minutes, sms }: Wording): Worded {
  const { short, valid, unasked } = sentencesOf(locale)
  const say = (...lines: string[]): string => filled(lines.join('\n'), { app, code, minutes: String(minutes) })
  switch (channel) {
    case 'sms':
      return { text: [say(short), ...endings(sms, code)].join('\n'), subject: null }
    case 'email':
      return { text: say(short, '', valid, unasked), subject: say(short) }
    default:
      return { text: say(short, valid), subject: null }
  }
}

const sentencesOf = (locale: string): Sentences => SENTENCES[locale] ?? (SENTENCES.en as Sentences)

/** Android looks for its hash anywhere; browsers read the address and the code on the last line only. */
function endings({ domain, android_hash }: Wording['sms'], code: string): string[] {
  const lines = [...(android_hash === null ? [] : [android_hash]), ...(domain === null ? [] : [`@${domain} #${code}`])]
  return lines.length === 0 ? [] : ['', ...lines]
}

/** In one pass, so that an app called `{code}` or `$&` is a name like any other. */
const filled = (text: string, values: Record<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)
