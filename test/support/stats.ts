// Statistics counted in the plain way, for comparison with the product's. In: verifications as they are stored. Out: the rows that the
// admin API should answer. Nothing of the product's counting is used.
import { expect } from 'chai'
import type { Delivery } from '../../machines/otp.ts'
import type { StatsRowAnswer } from '../../services/dashboard/stats/schemas.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'

export type By = 'channel' | 'country' | 'provider' | undefined

interface ExpectedRow {
  bucket: string
  value: string | null
  started: number
  sent: number
  queued: number
  without_receipt: number
  delivered: number
  messages_failed: number
  approved: number
  failed: number
  expired: number
  refused: number
  /** How long each approval took, in seconds. */
  seconds: number[]
}

interface RefusedSend {
  at: number
  country: string | null
}

const ULID_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const timeOfId = (id: string): number =>
  [...id.slice(4, 14)].reduce((time, digit) => time * 32 + ULID_DIGITS.indexOf(digit), 0)
const FOUR_HOURS_MS = 4 * 3_600_000

export function expectedRows(
  otps: readonly OtpDoc[],
  refused: readonly RefusedSend[],
  by: By,
  bucketMs: number,
): ExpectedRow[] {
  const rows = new Map<string, ExpectedRow>()
  const rowOf = (at: number, values: { channel: string | null; country: string | null; provider: string | null }) => {
    const bucket = new Date(Math.floor(at / bucketMs) * bucketMs).toISOString()
    const value = by === undefined ? null : values[by]
    const found = rows.get(`${bucket} ${value}`)
    if (found) return found
    const messages = { sent: 0, queued: 0, without_receipt: 0, delivered: 0, messages_failed: 0 }
    const row = { bucket, value, ...messages, started: 0, approved: 0, failed: 0, expired: 0, refused: 0, seconds: [] }
    rows.set(`${bucket} ${value}`, row)
    return row
  }
  for (const { _id, value, context } of otps) {
    const [at, { country }] = [timeOfId(_id), context.recipient]
    const provider = context.deliveries[0]?.provider ?? null
    const row = rowOf(at, { channel: context.tried[0] ?? null, country, provider })
    row.started += 1
    if (value === 'approved' || value === 'failed' || value === 'expired') row[value] += 1
    if (context.approval) row.seconds.push(Math.floor((context.approval.at - context.first_sent_at) / 1000))
    for (const delivery of context.deliveries) {
      const ofMessage = rowOf(at, { channel: delivery.channel, country, provider: delivery.provider ?? null })
      if (taken(delivery)) ofMessage.sent += 1
      ofMessage[outcomeOf(delivery, at)] += 1
    }
  }
  for (const { at, country } of refused) rowOf(at, { channel: null, country, provider: null }).refused += 1
  return [...rows.values()].filter(row => Object.values(row).some(count => typeof count === 'number' && count > 0))
}

const taken = ({ status, provider }: Delivery): boolean =>
  status === 'sent' || status === 'delivered' || (status === 'failed' && provider !== undefined)

function outcomeOf(delivery: Delivery, at: number): 'queued' | 'without_receipt' | 'delivered' | 'messages_failed' {
  if (delivery.status === 'queued') return 'queued'
  if (!taken(delivery)) return 'messages_failed'
  const isLate = delivery.updated_at >= at + FOUR_HOURS_MS
  if (delivery.status === 'sent' || isLate) return 'without_receipt'
  return delivery.status === 'delivered' ? 'delivered' : 'messages_failed'
}

/** Compares every cell. Rows of buckets without traffic are ignored. Answers how many cells were compared. */
export function expectSameRows(rows: readonly StatsRowAnswer[], expected: readonly ExpectedRow[], by: By): number {
  const keyOf = (bucket: string, value: string | null) => `${bucket} ${value}`
  const shown = new Map(
    rows
      .filter(row => row.started + row.sent + row.queued + row.messages_failed + row.refused > 0)
      .map(row => [keyOf(row.bucket, by === undefined ? null : (row[by] ?? null)), row]),
  )
  expect([...shown.keys()].sort()).to.deep.equal(expected.map(({ bucket, value }) => keyOf(bucket, value)).sort())
  for (const { bucket, value, seconds, ...counts } of expected) {
    const row = shown.get(keyOf(bucket, value)) as StatsRowAnswer
    const { started, approved } = row
    const what = `${bucket} ${value}`
    expect(row, what).to.include(counts)
    expect(row.conversion, what).to.equal(started === 0 ? null : approved / started)
    expectMedian(row.seconds_to_approve_p50, seconds, what)
  }
  return expected.length * 12
}

function expectMedian(shown: number | null, seconds: readonly number[], what: string): void {
  const median = [...seconds].sort((a, b) => a - b)[Math.ceil(seconds.length / 2) - 1]
  if (median === undefined) expect(shown, what).to.equal(null)
  else if (median < 60) expect(shown, what).to.equal(median)
  else expect(shown, what).to.be.closeTo(median, median * 0.05)
}
