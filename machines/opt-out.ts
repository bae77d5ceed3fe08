// Whether a message that a person wrote asks for no more messages, or for messages again. In: the whole text. Out: which of
// the two, or null. Pure. The words are those that Twilio takes by default, in the languages in which it has them, so that
// they mean the same to every vendor. Only a message that is one of these words and nothing else counts: "please do not
// stop" does not stop.
import type { Channel } from './channels.ts'

export const OPT_OUTS = ['stop', 'start'] as const
export type OptOut = (typeof OPT_OUTS)[number]

/** The channels on which a person can answer a message. */
export const OPT_OUT_CHANNELS = ['sms', 'whatsapp'] as const satisfies readonly Channel[]
export type OptOutChannel = (typeof OPT_OUT_CHANNELS)[number]

export const isOptOutChannel = (channel: Channel): channel is OptOutChannel =>
  (OPT_OUT_CHANNELS as readonly Channel[]).includes(channel)

/** In the form that `wordIn` gives a text. HELP is the vendor's to answer. */
export const OPT_OUT_WORDS: Readonly<Record<OptOut, readonly string[]>> = {
  stop: [
    'STOP',
    'STOPALL',
    'UNSUBSCRIBE',
    'CANCEL',
    'END',
    'QUIT',
    'REVOKE',
    'OPTOUT',
    // French, as in Canada.
    'ARRET',
    'ARRETE',
    'ARRETT',
  ],
  start: ['START', 'YES', 'UNSTOP'],
}

/** Of a text that is longer than this, no word is looked for. The longest word has eleven letters. */
const MAX_TEXT_LENGTH = 64

/** A text in upper case and in plain letters, without accents, and without the spaces, hyphens, quotes and full stops that
 *  people and keyboards add: "Stop.", "stop all" and "Arrêt" are words. */
const wordIn = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\s\p{Pd}.,!'"“”‘’«»]/gu, '')
    .toUpperCase()

export function optOutIn(text: string): OptOut | null {
  if (text.length > MAX_TEXT_LENGTH) return null
  const word = wordIn(text)
  return OPT_OUTS.find(one => OPT_OUT_WORDS[one].includes(word)) ?? null
}
