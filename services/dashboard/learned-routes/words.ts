// Why a provider comes first, or does not, in plain sentences with figures. Pure.

import type { RouteReason } from '../../../machines/otp.ts'
import { MAX_EXPLORED, percentOf, type RouteShare, UNSURE_SHARE } from '../../../machines/routes.order.ts'
import type { Others } from '../../../machines/routes.ts'
import type { RouteRowAnswer } from './schemas.ts'

/** "2 %", "0.5 %", "81 %". */
const percent = (share: number): string => `${percentOf(share)} %`

/** What is known about a provider in one country. */
export interface RouteSituation {
  state: RouteRowAnswer['state']
  rule: RouteShare['rule']
  /** What the other routes do while it is silent; null while it is not. */
  others: Others | null
  share: number
  /** Of 30 days. */
  messages: number
  conversion: number | null
  low: number | null
  high: number | null
  /** The conversion that is expected of it while it has no messages. */
  expected: number
  /** What its cost takes off; null where cost does not decide about it. */
  less: number | null
  /** The messages of all providers in the country, where they are too few for `best`. Null where they are not, or `best` is off. */
  tooFewMessages: number | null
  /** Its place among the providers of the channel that may be used, from 1. */
  place: number
  /** How many of those there are. */
  usable: number
}

const DEAF = 'It accepts messages, but hardly anyone types the code.'

export function becauseWords(situation: RouteSituation): string {
  const { state, rule, others, share, tooFewMessages, place, usable } = situation
  if (state === 'paused') return 'It is paused, so it gets no message.'
  if (state === 'open')
    return 'It failed too often just now, so the others get its messages. Now and then a message tests whether it works again.'
  if (state === 'silent' && others === 'silent')
    return `${DEAF} So it is with the others: look at your own page first. The order stays as it is.`
  if (state === 'silent' && rule === 'probe' && share > UNSURE_SHARE)
    return `${DEAF} It comes first for ${percent(share)} of the messages all the same, because the others cannot be called now.`
  if (state === 'silent' && rule === 'probe' && others === 'unknown')
    return `${DEAF} The others had too few messages to tell whether it is the provider or your own page. Until they have, it comes first for ${percent(share)} of the messages.`
  if (state === 'silent' && rule === 'probe')
    return `${DEAF} It stands behind the others, and comes first for ${percent(share)} of the messages to notice when it recovers.`
  if (state === 'silent')
    return usable === 1
      ? `${DEAF} There is no other to take over.`
      : `${DEAF} So it is with all others, so it stands behind none of them. It comes first for ${percent(share)} of the messages.`
  if (rule === 'best')
    return `${evidenceWords(situation)} That is the best here, so it comes first for ${percent(share)} of the messages.`
  if (rule === 'explored' && share > MAX_EXPLORED)
    return `${evidenceWords(situation)} It comes first for ${percent(share)} of the messages, because a better one cannot be called now.`
  if (rule === 'explored')
    return `${evidenceWords(situation)} It comes first for ${percent(share)} of the messages, so that a change is noticed.`
  const listed = listedWords(situation)
  if (tooFewMessages === null) return listed
  return `${listed} ${tooFewMessages === 1 ? 'One message was' : `${tooFewMessages} messages were`} sent there in 30 days: too few to learn from.`

  function listedWords({ rule }: RouteSituation): string {
    if (rule === 'spared') return 'It comes first, because the ones listed before it are silent.'
    if (usable === 1) return 'It is the only one that can be used.'
    return place === 1
      ? 'It is the first in the list.'
      : `It is number ${place} in the list, and gets what the ones before it cannot send.`
  }
}

/** "81 % of its messages are approved (76 % to 85 %), less 5 % for its cost." */
function evidenceWords({ messages, conversion, low, high, expected, less }: RouteSituation): string {
  const cost = costWords(less)
  if (messages === 0 || conversion === null || low === null || high === null)
    return `It has no messages yet: ${percent(expected)} of them are expected to be approved${cost}.`
  return `${percent(conversion)} of its messages are approved (${percent(low)} to ${percent(high)})${cost}.`
}

/** Where cost counts, a provider that costs nothing says so too: the others are compared with it. */
const costWords = (less: number | null | undefined): string =>
  typeof less === 'number' ? `, less ${percent(less)} for its cost` : ''

/** Why the provider of one message came first. Its conversion is an estimate: a provider may have had no messages. */
export function reasonWords(reason: RouteReason): string {
  if (reason.rule === 'taken_over')
    return `The provider took over from ${reason.from}, which came first and could not be called: its circuit breaker was open, or its vendor had asked for a pause.`
  const { rule, share, conversion, less } = reason
  const estimated = `Its conversion was estimated at ${percent(conversion)}${costWords(less)}.`
  switch (rule) {
    case 'best':
      return `The provider was the best for this country, and came first for ${percent(share)} of the messages. ${estimated}`
    case 'explored':
      return `The provider came first to learn about it, as for ${percent(share)} of the messages. ${estimated}`
    case 'probe':
      return `The provider was silent, and came first to see whether it recovers, as for ${percent(share)} of the messages. ${estimated}`
    case 'spared':
      return `The provider came first for ${percent(share)} of the messages, because the ones listed before it were silent. ${estimated}`
  }
}
