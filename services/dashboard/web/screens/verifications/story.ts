// Why a code did or did not arrive. In: a verification with its timeline, and the time. Out: sentences for a support person; the first one
// answers the question. Pure.

import { msBetween, shortDurationOfMs } from '../../data/duration.ts'
import {
  type Arrival,
  channelInSentence,
  type Delivery,
  type DeliveryStory,
  type History,
  type Remedy,
  tellDelivery,
} from './delivery-words.ts'

export interface Story {
  arrival: Arrival
  /** The answer in a few words. */
  verdict: string
  /** Why. */
  reason: string
  /** What else happened, in the order of time. */
  more: string[]
  remedies: Remedy[]
}

const VERDICTS: Readonly<Record<Arrival, string>> = {
  arrived: 'The code arrived',
  'under way': 'The code is on its way',
  unknown: 'It is not known whether the code arrived',
  'not arrived': 'The code did not arrive',
}

export function tellStory(history: History, now: number): Story {
  const told = history.deliveries
    .filter(carriesCode)
    .map(delivery => ({ delivery, story: tellDelivery(history, delivery, now) }))
  const base = history.status === 'approved' ? tellApproved(history) : tellUnapproved(history, told)
  const asked = history.deliveries.some(delivery => !carriesCode(delivery))
  const others = told.filter(({ delivery }) => delivery !== base.about)
  const { about: _, ...story } = base
  return {
    ...story,
    more: [
      ...(asked ? ['The user wrote without showing their number, so the chat asked for it.'] : []),
      ...others.map(({ delivery, story: { sentence } }) => `${messageName(history, delivery)}: ${sentence}`),
      ...(history.kind === 'message' ? [OWN_CODE] : endSentences(history)),
      ...(history.mode === 'test' ? [testMode(history)] : []),
    ],
  }
}

const carriesCode = ({ asks_contact }: Delivery): boolean => asks_contact !== true

const OWN_CODE = 'Your backend made this code and checks it, so whether it was entered is not known here.'

const testMode = ({ kind }: History): string =>
  `This ${kind} is in test mode: no message leaves Countersign, the sandbox keeps it and plays the receipts.`

interface Told {
  delivery: Delivery
  story: DeliveryStory
}

type Base = Omit<Story, 'more'> & {
  /** The message that `reason` is about, if it is about one. */
  about: Delivery | null
}

export const messageName = ({ deliveries }: History, delivery: Delivery): string =>
  deliveries.length === 1
    ? `The message by ${channelInSentence(delivery.channel)}`
    : `Message ${deliveries.indexOf(delivery) + 1}, by ${channelInSentence(delivery.channel)}`

function tellApproved({ created_at, verified_at, approved_by }: History): Base {
  const after = verified_at === null ? '' : ` ${shortDurationOfMs(msBetween(created_at, verified_at))} after the send`
  if (approved_by === null)
    return {
      arrival: 'arrived',
      verdict: 'Approved without a code',
      reason: `The user approved by sending the WhatsApp message${after}.`,
      remedies: [],
      about: null,
    }
  return {
    arrival: 'arrived',
    verdict: VERDICTS.arrived,
    // A receipt may be missing or wrong. A right code proves that it was read.
    reason: `The right code was entered${after}.`,
    remedies: [],
    about: null,
  }
}

/** The more is known of a message, the more it says about the code. */
const WEIGHTS: Readonly<Record<Arrival, number>> = { arrived: 3, 'under way': 2, unknown: 1, 'not arrived': 0 }

function tellUnapproved(history: History, told: readonly Told[]): Base {
  const current = told.filter(({ delivery }) => delivery.generation === history.generation)
  if (current.length === 0) return tellWithoutMessage(history)
  const [best] = current.toReversed().sort((one, other) => WEIGHTS[other.story.arrival] - WEIGHTS[one.story.arrival])
  if (!best) return tellWithoutMessage(history)
  const { arrival, sentence, remedies } = best.story
  const isOneOfMany = history.deliveries.length > 1
  return {
    arrival,
    verdict: VERDICTS[arrival],
    reason: isOneOfMany ? `${messageName(history, best.delivery)}: ${sentence}` : sentence,
    remedies,
    about: best.delivery,
  }
}

/** In the link modes of WhatsApp the user writes first. */
function tellWithoutMessage({ status, completion, action_url, channel }: History): Base {
  const isLink = action_url !== null || completion === 'inbound' || channel === 'whatsapp'
  if (!isLink)
    return {
      arrival: 'unknown',
      verdict: VERDICTS.unknown,
      reason: 'No message of this code is recorded.',
      remedies: [],
      about: null,
    }
  const what = completion === 'inbound' ? 'It is approved by' : 'The code is the answer to'
  return {
    arrival: status === 'pending' ? 'under way' : 'not arrived',
    verdict: status === 'pending' ? 'Waiting for the user' : 'No message came from the user',
    reason: `${what} a WhatsApp message that the user sends with the link; none with its reference has come from this number.`,
    remedies:
      status === 'pending' ? [{ says: 'The user must open the link and send the message without changing it.' }] : [],
    about: null,
  }
}

function endSentences(history: History): string[] {
  const { status, wrong_codes, attempts_left, approved_by, exchange } = history
  const wrong = wrong_codes === 1 ? 'One wrong code was entered' : `${wrong_codes} wrong codes were entered`
  switch (status) {
    case 'approved':
      return [
        ...(wrong_codes > 0 ? [`${wrong} before or after the right one.`] : []),
        ...(exchange ? ['The backend has exchanged the verification token.'] : []),
        ...(approved_by?.kind === 'publishable' && !exchange
          ? ['A device approved it, and the backend has not exchanged the verification token.']
          : []),
      ]
    case 'failed':
      return [`${wrong}, so no attempts are left and the verification has failed.`]
    case 'expired':
      return [wrong_codes > 0 ? `${wrong}, then it expired.` : 'It expired, and no code was entered.']
    case 'canceled':
      return [wrong_codes > 0 ? `${wrong}, then it was canceled.` : 'It was canceled.']
    case 'delivered':
      return []
    case 'pending':
      return wrong_codes > 0 ? [`${wrong}; ${attemptsText(attempts_left)}.`] : []
  }
}

const attemptsText = (left: number): string => (left === 1 ? 'one attempt is left' : `${left} attempts are left`)
