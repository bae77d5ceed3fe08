// Sums of statistics. In: rows of GET /apps/{id}/stats. Out: their sum, with the shares and the time to approval of all of them together.

export interface CountedRow {
  started: number
  queued: number
  without_receipt: number
  delivered: number
  messages_failed: number
  approved: number
  failed: number
  expired: number
  refused: number
  spend_micros: number | null
  seconds_to_approve_p50: number | null
}

export interface Figures {
  /** Verifications that were started. */
  started: number
  /** All messages of these verifications: those in the next four counts. */
  messages: number
  queued: number
  withoutReceipt: number
  delivered: number
  messagesFailed: number
  approved: number
  failed: number
  expired: number
  refused: number
  /** What messages cost, in micro-units; null where it is not known, by provider. */
  spend: number | null
  /** Approved by started; null when none was started. */
  conversion: number | null
  /** Delivered by delivered and failed, because what became of the other messages is not known; null when it is known
   *  of none, and where the providers send no receipts. */
  deliveryRate: number | null
  /** Null when none was approved. */
  seconds: number | null
}

export function sumRows(rows: readonly CountedRow[]): Figures {
  const sum = (name: Exclude<keyof CountedRow, 'seconds_to_approve_p50' | 'spend_micros'>) =>
    rows.reduce((total, row) => total + row[name], 0)
  const [started, approved] = [sum('started'), sum('approved')]
  const messages = {
    queued: sum('queued'),
    withoutReceipt: sum('without_receipt'),
    delivered: sum('delivered'),
    messagesFailed: sum('messages_failed'),
  }
  return {
    started,
    messages: Object.values(messages).reduce((all, count) => all + count),
    ...messages,
    approved,
    failed: sum('failed'),
    expired: sum('expired'),
    refused: sum('refused'),
    spend: rows.reduce<number | null>(addKnown, 0),
    conversion: shareOf(approved, started),
    deliveryRate: hasNoReceipts(messages) ? null : shareOf(messages.delivered, knownOutcomes(messages)),
    seconds: middleOfMedians(rows),
  }
}

const addKnown = (sum: number | null, { spend_micros }: CountedRow): number | null =>
  sum === null || spend_micros === null ? null : sum + spend_micros

type Messages = Pick<Figures, 'withoutReceipt' | 'delivered' | 'messagesFailed'>

/** How many messages were delivered or failed. */
export const knownOutcomes = ({ delivered, messagesFailed }: Messages): number => delivered + messagesFailed

/** Whether the providers seem to send no receipts. Some messages fail before a provider takes them, and these alone
 *  would be a rate of 0%; so it counts what became of most messages. */
export const hasNoReceipts = ({ delivered, messagesFailed, withoutReceipt }: Messages): boolean =>
  delivered === 0 && withoutReceipt > 0 && withoutReceipt >= messagesFailed

/** An hour may have the end of a verification before its start is counted, so a share stays below 1. */
const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : Math.min(1, part / whole))

/** The API has the median of each bucket. Of several buckets this is the median of their medians, each as often as it has approvals: near
 *  the median of all approvals, and equal to it where the buckets are alike. */
function middleOfMedians(rows: readonly CountedRow[]): number | null {
  const medians = rows
    .flatMap(({ seconds_to_approve_p50: seconds, approved }) =>
      seconds === null || approved === 0 ? [] : [{ seconds, approved }],
    )
    .sort((a, b) => a.seconds - b.seconds)
  const all = medians.reduce((total, { approved }) => total + approved, 0)
  let seen = 0
  for (const { seconds, approved } of medians) {
    seen += approved
    if (seen * 2 >= all) return seconds
  }
  return null
}

export const isEmpty = ({ started, messages, refused, spend }: Figures): boolean =>
  started + messages + refused === 0 && !spend
