// Counts sent and verified messages. In: a verification before and after a change. Out: the messages that the change
// has sent, and whether it approved the verification; once they are counted, the evidence about a number or mailbox.
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import { countedMessages } from '../../../machines/fraud.messages.ts'
import { type Block, type BlockNumber, EMPTY_BLOCK } from '../../../machines/fraud.number-block.ts'
import type { TallyEntry } from '../../../machines/fraud.tally.ts'
import type { Evidence, NamedTally } from '../../../machines/fraud.ts'
import { isMessage } from '../../../machines/otp.queries.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import type { FraudCounts } from './counts.ts'
import type { NamedKey, RecipientGroups } from './groups.ts'

export interface Outcome {
  /** When each message was sent; the first one begins the verification if `isStart`. */
  sentAt: number[]
  isStart: boolean
  /** `sentAt`: of the message that was verified, the last one. Null when the change did not approve the verification. */
  approval: { at: number; sentAt: number } | null
}

/** Null when the change has neither sent a message that counts nor approved a verification that has one. A code that the caller made counts
 *  in no conversion: only the caller knows whether it was entered. */
export function messageOutcome(before: OtpDoc | null, after: OtpDoc): Outcome | null {
  if (isMessage(after.context)) return null
  const messages = countedMessages(after.context)
  const last = messages.at(-1)
  if (last === undefined) return null
  const known = before === null ? 0 : countedMessages(before.context).length
  const isApproved = before?.value !== 'approved' && after.value === 'approved'
  if (messages.length === known && !isApproved) return null
  return {
    sentAt: messages.slice(known).map(({ created_at }) => created_at),
    isStart: known === 0,
    approval: isApproved ? { at: after.context.approval?.at ?? last.created_at, sentAt: last.created_at } : null,
  }
}

const MAX_NUMBERS = 20_000

/** What the counts say of a number or mailbox. */
export type CountedEvidence = Omit<Evidence, 'perMinute' | 'backsOff'>

export interface FraudWatch {
  sent(groups: RecipientGroups, app_id: string, outcome: Pick<Outcome, 'sentAt' | 'isStart'>): void
  /** `isFirstThisHour`: only then it counts in the tallies, so that a fraudster who verifies one number again and again does not look like
   *  many users. */
  verified(
    groups: RecipientGroups,
    app_id: string,
    approval: NonNullable<Outcome['approval']>,
    isFirstThisHour: boolean,
  ): void
  evidence(groups: RecipientGroups): Promise<CountedEvidence>
}

/** A number whose tags are computed only when it gets neighbours. */
interface FirstNumber extends Pick<RecipientGroups, 'recipient' | 'tags'> {
  at: number
  verified: boolean
}

const SHARED = 'shared'
/** An empty block has no number to compare with. */
const NO_TAGS = { tag: '', hundred: '' }

const entryOf = ({ tags, at, verified }: FirstNumber): BlockNumber => ({ ...tags(), at, verified })

export function createFraudWatch(
  counts: Pick<FraudCounts, 'tallies' | 'mailDomains' | 'blocks' | 'histories'>,
): FraudWatch {
  // The first number of a block is kept in memory: most blocks never get a second one, and then need no document.
  const firstNumbers = createBoundedMap<FirstNumber | typeof SHARED>(MAX_NUMBERS)

  const rangeTallies = ({ isMailbox }: RecipientGroups) => (isMailbox ? counts.mailDomains : counts.tallies)

  function tally(groups: RecipientGroups, app_id: string, entry: TallyEntry): void {
    const { app, country, range } = groups
    for (const group of [app, country]) if (group) counts.tallies.add(group.key, app_id, entry)
    if (range) rangeTallies(groups).add(range.key, app_id, entry)
  }

  function addNumber({ block, recipient, tags }: RecipientGroups, app_id: string, at: number, verified: boolean): void {
    if (block === null) return
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

  async function loadBlock({ block, recipient }: RecipientGroups): Promise<Block> {
    if (block === null) return EMPTY_BLOCK
    const known = firstNumbers.get(block)
    if (known === SHARED) return counts.blocks.state(block)
    return known === undefined || known.recipient === recipient ? EMPTY_BLOCK : { numbers: [entryOf(known)] }
  }

  const load = async ({ name, key }: NamedKey, tallies = counts.tallies): Promise<NamedTally> => ({
    name,
    tally: await tallies.state(key),
  })

  return {
    sent(groups, app_id, { sentAt, isStart }) {
      for (const [nth, at] of sentAt.entries()) {
        tally(groups, app_id, { at, sent: 1, verified: 0 })
        addNumber(groups, app_id, at, false)
        const what = isStart && nth === 0 ? 'start' : 'message'
        if (groups.history !== null) counts.histories.add(groups.history, app_id, { at, what })
      }
    },
    verified(groups, app_id, { at, sentAt }, isFirstThisHour) {
      if (isFirstThisHour) tally(groups, app_id, { at: sentAt, sent: 0, verified: 1 })
      addNumber(groups, app_id, sentAt, true)
      if (groups.history !== null) counts.histories.add(groups.history, app_id, { at, what: 'approval' })
    },
    async evidence(groups) {
      const { kind, app, country, range, history, isMailbox } = groups
      const [ofApp, ofCountry, ofRange, ofNumber, block] = await Promise.all([
        app && load(app),
        load(country),
        range && load(range, rangeTallies(groups)),
        history === null ? null : counts.histories.state(history),
        loadBlock(groups),
      ])
      const number = block.numbers.length === 0 ? NO_TAGS : groups.tags()
      return { kind, app: ofApp, country: ofCountry, range: ofRange, history: ofNumber, isMailbox, block, number }
    },
  }
}
