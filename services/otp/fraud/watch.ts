// Counts sent and verified text messages. In: each first text message of a verification, and each that was verified. Out: the evidence
// about a number. A number counts once an hour, so that a fraudster who verifies one number again and again does not look like many users.

import { createBoundedMap } from '../../../infra/bounded-map.ts'
import { HOUR_MS } from '../../../infra/time.ts'
import { type Block, type BlockNumber, EMPTY_BLOCK } from '../../../machines/fraud.number-block.ts'
import type { Evidence } from '../../../machines/fraud.ts'
import type { Delivery } from '../../../machines/otp.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import type { FraudCounts } from './counts.ts'
import type { NumberGroups } from './number-groups.ts'

const MAX_NUMBERS = 20_000

export interface FraudWatch {
  /** A verification's first text message was sent at `at`. */
  sent(groups: NumberGroups, app_id: string, at: number): void
  /** The verification was approved; `at` is still the time of its message. */
  verified(groups: NumberGroups, app_id: string, at: number): void
  evidence(groups: NumberGroups): Promise<Evidence>
}

/** A number whose tags are computed only when it gets neighbours. */
interface FirstNumber extends Pick<NumberGroups, 'recipient' | 'tags'> {
  at: number
  verified: boolean
}

const SHARED = 'shared'
/** An empty block has no number to compare with. */
const NO_TAGS = { tag: '', hundred: '' }

const entryOf = ({ tags, at, verified }: FirstNumber): BlockNumber => ({ ...tags(), at, verified })

export function createFraudWatch(counts: Pick<FraudCounts, 'tallies' | 'blocks'>): FraudWatch {
  const countedAt = createBoundedMap<number>(MAX_NUMBERS)
  // The first number of a block is kept in memory: most blocks never get a second one, and then need no document.
  const firstNumbers = createBoundedMap<FirstNumber | typeof SHARED>(MAX_NUMBERS)

  function isFirstThisHour(what: string, { recipient }: NumberGroups, at: number): boolean {
    const key = what + recipient
    const isFirst = at - (countedAt.get(key) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS
    if (isFirst) countedAt.set(key, at)
    return isFirst
  }

  function tally(what: 'sent' | 'verified', groups: NumberGroups, app_id: string, at: number): void {
    if (!isFirstThisHour(what, groups, at)) return
    const entry = { at, sent: what === 'sent' ? 1 : 0, verified: what === 'verified' ? 1 : 0 }
    for (const { key } of [groups.country, groups.range]) counts.tallies.add(key, app_id, entry)
  }

  function addNumber({ block, recipient, tags }: NumberGroups, app_id: string, at: number, verified: boolean): void {
    const known = firstNumbers.get(block)
    const added = { recipient, tags, at, verified }
    if (known === undefined && !verified) firstNumbers.set(block, added)
    else if (known !== undefined && known !== SHARED && known.recipient === recipient)
      firstNumbers.set(block, { ...added, verified: verified || known.verified })
    else addToShared(block, app_id, known, added)
  }

  function addToShared(
    block: string,
    app_id: string,
    known: FirstNumber | typeof SHARED | undefined,
    added: FirstNumber,
  ): void {
    if (known !== undefined && known !== SHARED) counts.blocks.add(block, app_id, entryOf(known))
    // If the block is unknown here, another process has sent to this number, and the block stays unknown here.
    if (known !== undefined) firstNumbers.set(block, SHARED)
    counts.blocks.add(block, app_id, entryOf(added))
  }

  async function loadBlock({ block, recipient }: NumberGroups): Promise<Block> {
    const known = firstNumbers.get(block)
    if (known === SHARED) return counts.blocks.state(block)
    return known === undefined || known.recipient === recipient ? EMPTY_BLOCK : { numbers: [entryOf(known)] }
  }

  return {
    sent(groups, app_id, at) {
      tally('sent', groups, app_id, at)
      addNumber(groups, app_id, at, false)
    },
    verified(groups, app_id, at) {
      tally('verified', groups, app_id, at)
      addNumber(groups, app_id, at, true)
    },
    async evidence(groups) {
      const { country, range } = groups
      const [countryTally, rangeTally, neighbours] = await Promise.all([
        counts.tallies.state(country.key),
        counts.tallies.state(range.key),
        loadBlock(groups),
      ])
      return {
        country: { name: country.name, tally: countryTally },
        range: { name: range.name, tally: rangeTally },
        block: neighbours,
        number: neighbours.numbers.length === 0 ? NO_TAGS : groups.tags(),
      }
    },
  }
}

export interface SmsOutcome {
  /** The time of the verification's first text message. */
  at: number
  sent: boolean
  verified: boolean
}

/** Whether a change has sent a verification's first text message or approved the verification; null if neither. */
export function smsOutcomeOf(before: OtpDoc | null, after: OtpDoc): SmsOutcome | null {
  const first = after.context.deliveries.find(isSms)
  if (!first) return null
  const sent = !before?.context.deliveries.some(isSms)
  const verified = before?.value !== 'approved' && after.value === 'approved'
  return sent || verified ? { at: first.created_at, sent, verified } : null
}

/** A fallback that could not be paid was not sent. */
const isSms = ({ channel, reason }: Delivery): boolean => channel === 'sms' && reason !== 'insufficient_funds'
