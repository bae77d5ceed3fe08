// What every provider must do with its vendor's signed receipts: one suite, run for each provider.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { ReportedStatus } from '../../../machines/otp.ts'
import { BadSignature, type Callback, type CallbackItem } from '../../../services/channel/provider.ts'
import { DELIVERY_ID } from './provider-fixtures.ts'

export interface ReceiptCases {
  parse(callback: Callback, now?: number): readonly CallbackItem[] | undefined
  /** A signed receipt of DELIVERY_ID with this status. */
  receipt(word: string): Callback
  /** The vendor's own name of the message in that receipt. */
  reference: string | null
  /** What each of the vendor's words for a status means. */
  statuses: Record<string, ReportedStatus>
  /** Words that are no news about a delivery; none where every other word is a bad callback. */
  ignored?: readonly string[]
  /** When the receipts were signed, where the signature covers a time. */
  signedAt?: number
}

const MAX_AGE_MS = 300_000

/** Words that no vendor has, but that every object of JavaScript has among them. */
const UNKNOWN_WORDS = ['something new', '', '__proto__', 'constructor']

export function itTakesReceipts({ parse, receipt, reference, statuses, ignored, signedAt }: ReceiptCases): void {
  const expectRefused = (callback: Callback, now?: number): void => {
    expect(() => parse(callback, now)).to.throw(BadSignature)
  }

  for (const [word, status] of Object.entries(statuses))
    it(`report ${status} for ${word}`, () => {
      const [item, ...more] = parse(receipt(word)) ?? []
      expect(item).to.include({ kind: 'receipt', delivery_id: DELIVERY_ID, reference, status })
      expect('failure' in (item ?? {})).to.equal(status === 'failed')
      expect(more).to.deep.equal([])
    })

  if (ignored)
    for (const word of [...ignored, ...UNKNOWN_WORDS])
      it(`are ignored for ${JSON.stringify(word)}`, () => {
        expect(parse(receipt(word))).to.deep.equal([])
      })

  it('are refused when a byte of the body has changed, or is added, or all are missing', () => {
    const { body, ...rest } = receipt('delivered')
    for (let at = 0; at < body.length; at += 1)
      for (const bit of [1, 0x80]) {
        const changed = Buffer.from(body)
        changed[at] = (changed[at] ?? 0) ^ bit
        expectRefused({ ...rest, body: changed })
      }
    for (const added of [' ', '\n']) expectRefused({ ...rest, body: Buffer.concat([body, Buffer.from(added)]) })
    expectRefused({ ...rest, body: Buffer.alloc(0) })
  })

  if (signedAt !== undefined)
    it('are refused when they are more than five minutes old or ahead', () => {
      const call = receipt('delivered')
      for (const ms of [0, MAX_AGE_MS, -MAX_AGE_MS]) expect(parse(call, signedAt + ms)).to.have.lengthOf(1)
      for (const ms of [MAX_AGE_MS + 1, -MAX_AGE_MS - 1, 86_400_000]) expectRefused(call, signedAt + ms)
    })
}
