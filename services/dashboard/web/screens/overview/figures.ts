// Sums of statistics. In: rows of GET /apps/{id}/stats. Out: their sum, with the shares and the time to approval of all of them together.

export interface CountedRow {
  started: number
  sent: number
  delivered: number
  approved: number
  failed: number
  expired: number
  refused: number
  seconds_to_approve_p50: number | null
}

export interface Figures {
  /** Verifications that were started. */
  started: number
  /** Messages that a provider took. */
  sent: number
  delivered: number
  approved: number
  failed: number
  expired: number
  refused: number
  /** Approved by started; null when none was started. */
  conversion: number | null
  /** Delivered by sent; null when none was sent. */
  deliveryRate: number | null
  /** Null when none was approved. */
  seconds: number | null
}

export function sumRows(rows: readonly CountedRow[]): Figures {
  const sum = (name: Exclude<keyof CountedRow, 'seconds_to_approve_p50'>) =>
    rows.reduce((total, row) => total + row[name], 0)
  const [started, sent, delivered, approved] = [sum('started'), sum('sent'), sum('delivered'), sum('approved')]
  return {
    started,
    sent,
    delivered,
    approved,
    failed: sum('failed'),
    expired: sum('expired'),
    refused: sum('refused'),
    conversion: shareOf(approved, started),
    deliveryRate: shareOf(delivered, sent),
    seconds: middleOfMedians(rows),
  }
}

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

export const isEmpty = ({ started, sent, refused }: Figures): boolean => started + sent + refused === 0
