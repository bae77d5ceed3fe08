// The timeline of a verification as rows for people: every kind of entry that the API documents.
import { expect } from 'chai'
import { timelineEntry } from '../../../../services/dashboard/verifications/schemas.ts'
import type { History } from '../../../../services/dashboard/web/screens/verifications/delivery-words.ts'
import type { TimelineEntry } from '../../../../services/dashboard/web/screens/verifications/provider-calls.ts'
import { type TimelineRow, timelineRows } from '../../../../services/dashboard/web/screens/verifications/timeline.ts'

const AT = '2030-01-01T12:00:00.000Z'
const delivery = { delivery_id: 'dlv_1' }
const deliveries = [{ delivery_id: 'dlv_0' }, delivery] as unknown as History['deliveries']

const rowsOf = (...timeline: TimelineEntry[]): TimelineRow[] =>
  timelineRows({ deliveries, timeline } as unknown as History, Date.parse(AT))

const rowOf = (entry: Omit<TimelineEntry, 'at'>): TimelineRow => {
  const [row] = rowsOf({ at: AT, ...entry })
  if (!row) throw new Error('there is no row')
  return row
}

describe('a row of the timeline', () => {
  for (const [entry, title, details] of [
    [{ happened: 'otp.started', by: { key_id: 'key_a', kind: 'server' } }, 'Started by a server key', []],
    [
      {
        happened: 'delivery.failed',
        ...delivery,
        provider: 'main',
        reason: 'recipient_unreachable',
        vendor_code: '30003',
        vendor_text: 'Unreachable',
      },
      'Message 2 failed: the recipient cannot be reached',
      ['Reported by main.', 'Code 30003: Unreachable'],
    ],
    [
      {
        happened: 'provider.called',
        ...delivery,
        provider: 'main',
        round: 2,
        call: 2,
        result: 'failed',
        http_status: 503,
        vendor_code: '20500',
        ms: 812,
      },
      'Message 2: main answered 503 after 812 ms',
      ['Code 20500', 'Round 2, call 2'],
    ],
    [{ happened: 'something.new' }, 'something.new', []],
  ] as const)
    it(`says "${title}"`, () => expect(rowOf(entry as Omit<TimelineEntry, 'at'>)).to.deep.include({ title, details }))

  it('has words for everything that the API documents', () => {
    const documented = timelineEntry.shape.happened.meta()?.description ?? ''
    const names = [...documented.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    expect(names).to.have.length(15)
    for (const happened of names) expect(rowOf({ happened }).title).to.not.equal(happened)
  })
})
