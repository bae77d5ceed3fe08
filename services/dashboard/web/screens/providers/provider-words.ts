// What the screen says about a provider. In: the state of its breaker, or the answer to a test, as the API gives them.
// Out: words and a colour.

import { isProviderType, type ProviderType } from '../../../../domain/tenancy/provider-types/list.ts'
import type { Schemas } from '../../api/schema.ts'
import { type Channel, channelName } from '../../data/channels.ts'
import { countryName, sortedByName } from '../../data/countries.ts'
import { asSentence } from '../../data/value-words.ts'

type Breaker = Schemas['Breaker']
type ProviderTest = Schemas['ProviderTest']

export interface BreakerWords {
  tone: 'good' | 'warning' | 'bad' | 'neutral'
  /** In a badge. */
  state: string
  /** Beside it; null where the state says all. */
  explanation: string | null
  /** Whether the time since when matters. */
  showsSince: boolean
}

/** `alone`: no other provider of the channel sends. */
export function breakerWords(breaker: Breaker | null, type: ProviderType, alone: boolean): BreakerWords {
  if (type === 'sandbox') return { tone: 'neutral', state: 'Sandbox', explanation: null, showsSince: false }
  if (breaker === null)
    return {
      tone: 'neutral',
      state: 'Not used lately',
      explanation: 'No message went through it lately. Send a test message to see whether it works.',
      showsSince: false,
    }
  const where = breaker.processes > 1 ? ` In ${breaker.processes} processes.` : ''
  if (breaker.state === 'open')
    return {
      tone: 'bad',
      state: 'Paused after failures',
      explanation: `${alone ? 'No other provider sends for this channel, so messages fail.' : 'Messages take the next provider.'} Now and then a message tests whether it works again.${where}`,
      showsSince: true,
    }
  if (breaker.state === 'half_open')
    return {
      tone: 'warning',
      state: 'Being tested',
      explanation: `It was paused after failures. One message tests whether it works again.${where}`,
      showsSince: true,
    }
  return { tone: 'good', state: 'Not paused', explanation: null, showsSince: false }
}

export const PAUSED_WORDS: BreakerWords = {
  tone: 'warning',
  state: 'Paused',
  explanation: 'No message is sent through it until it is resumed. Receipts of earlier messages still count.',
  showsSince: false,
}

/** The notice of the item explains it. */
export const UNKNOWN_TYPE_WORDS: BreakerWords = {
  tone: 'warning',
  state: 'Unknown type',
  explanation: null,
  showsSince: false,
}

/** `alone`: no other provider of the channel sends. `isConsole`: of the app that sends the sign-in codes of the dashboard. */
export function deletionWords({ channel, type, paused }: Stopped, alone: boolean, isConsole: boolean): string {
  if (!isProviderType(type)) return 'No message goes through it: this release does not know its type.'
  if (paused) return 'It is paused, so no message goes through it now.'
  return alone ? stopWords(channel, isConsole) : 'Messages take the next provider of the channel.'
}

type Stopped = Pick<Schemas['Provider'], 'channel' | 'type' | 'paused'>

/** What is said of the last provider of the channel that sends. */
export function stopWords(channel: Channel, isConsole: boolean): string {
  if (isConsole && channel === 'email')
    return 'No other one sends sign-in codes: people can no longer sign in to this dashboard with a code by email.'
  const label = channelName(channel)
  return `No other provider sends for ${label}: live keys can no longer send by ${label}.`
}

export const servedWords = (countries: readonly string[]): string =>
  `Only for ${sortedByName(countries).map(countryName).join(', ')}`

export interface TestWords {
  tone: 'good' | 'bad' | 'warning'
  title: string
  sentences: string[]
}

export function testWords(test: ProviderTest, type: ProviderType, recipient: string): TestWords {
  if (type === 'sandbox')
    return { tone: 'good', title: 'Accepted', sentences: ['The sandbox accepts every message, and sends none.'] }
  if (test.outcome === 'accepted')
    return {
      tone: 'good',
      title: 'The vendor accepted the message',
      sentences: [`It should reach ${recipient} in a moment. The code in it verifies nothing.`],
    }
  const quoted = test.vendor_text === null ? [] : [`It says: “${test.vendor_text}”`]
  if (test.outcome === 'refused')
    return { tone: 'bad', title: 'The vendor refused the message', sentences: [...quoted, adviceFor(test)] }
  if (test.http_status !== null)
    return {
      tone: 'warning',
      title: 'The answer is not clear',
      sentences: [...quoted, 'The message may have been sent. Look whether it arrives.'],
    }
  return {
    tone: 'bad',
    title: 'There was no answer',
    sentences: [
      test.vendor_text === null ? 'The vendor did not answer.' : asSentence(test.vendor_text),
      'Check the address, and whether the vendor is up.',
    ],
  }
}

const CREDENTIALS = 'It does not accept the credentials: check the secrets of this provider.'
const TOO_MANY = 'It takes no more messages for now: wait, or ask the vendor for a higher limit.'
const OWN_TROUBLE = 'The vendor has problems: try again later.'
const MESSAGE = 'It does not accept this message or this recipient: look the error up at the vendor.'

function adviceFor({ http_status, vendor_code }: ProviderTest): string {
  // Mail servers answer with codes of SMTP: 535 and 530 are about the login, 4xx may pass.
  const smtp = http_status === null ? Number.parseInt(vendor_code ?? '', 10) : Number.NaN
  if (http_status === 401 || http_status === 403 || smtp === 535 || smtp === 530) return CREDENTIALS
  if (http_status === 404) return 'It does not know the address or the account: check the URL and the ids.'
  if (http_status === 429) return TOO_MANY
  if ((http_status ?? 0) >= 500 || (smtp >= 400 && smtp < 500)) return OWN_TROUBLE
  return MESSAGE
}
