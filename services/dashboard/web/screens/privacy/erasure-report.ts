// An erasure in words. In: the counts that the API answered. Out: a sentence of what there is before it, and one for each kind of data that
// there was.

import { maskEmail } from '../../../../../machines/masking.ts'
import { SAMPLE_NUMBER } from '../../../../../machines/sample-number.ts'
import type { Schemas } from '../../api/schema.ts'

type Erasure = Schemas['Erasure']

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** In the order in which a reader asks. Of what there was nothing, nothing is said. */
const SENTENCES: readonly [keyof Erasure, (count: number, erasure: Erasure) => string][] = [
  [
    'verifications',
    (count, { ended }) =>
      `${counted(count, 'verification', 'verifications')} with number or address, client address and timeline${
        ended === 0 ? '' : `; ${counted(ended, 'was pending and was', 'were pending and were')} canceled first`
      }`,
  ],
  ['attempts', count => `${counted(count, 'record of a call', 'records of calls')} to providers`],
  ['messages', count => `${counted(count, 'message', 'messages')} in the sandbox’s inbox`],
  ['events', count => `what your endpoint answered to ${counted(count, 'webhook event', 'webhook events')}`],
  ['counters', count => `${counted(count, 'counter', 'counters')} of limits`],
  ['refusals', count => `${counted(count, 'refused send or resend', 'refused sends and resends')}`],
  ['decisions', count => `${counted(count, 'decision', 'decisions')} of the fraud guard`],
  ['rules', count => `the name in ${counted(count, 'STOP', 'STOPs')}, which hold on`],
  ['blocks', count => `the place in ${counted(count, 'block', 'blocks')} of numbers of the fraud guard`],
  ['idempotency_keys', count => counted(count, 'idempotency key', 'idempotency keys')],
]

/** Empty when nothing was found. */
export const erasureReport = (erasure: Erasure): string[] =>
  SENTENCES.flatMap(([kind, sentence]) => (erasure[kind] > 0 ? [sentence(erasure[kind], erasure)] : []))

/** What is there before an erasure. `more`: not all verifications were looked at, and the others may be of other companies. */
export function foundSentence(masked: string, count: number, more: boolean): string {
  const others = 'There may be refusals and counters of it.'
  if (count === 0 && more) return `There may be verifications of ${masked}, which were not counted. ${others}`
  if (count === 0) return `There is no verification of ${masked}. ${others}`
  const found = counted(count, 'verification', 'verifications')
  return `There ${count === 1 ? 'is' : 'are'} ${more ? 'at least ' : ''}${found} of ${masked}.`
}

/** For a recipient that the API has never masked, because there is no verification of it. */
export const maskTyped = (recipient: string): string => {
  const text = recipient.trim()
  return text.includes('@') ? maskEmail(text) : `****${text.slice(-2)}`
}

/** Why a text cannot be erased; undefined when it can. The API erases a number only with its country code, because
 *  without it the number may be another person's; its search is more lenient. */
export const recipientProblem = (text: string): string | undefined =>
  text.includes('@') || /^[\s(]*(\+|00)/.test(text)
    ? undefined
    : `Write the number with its country code, as in ${SAMPLE_NUMBER}.`
