// What every provider must do with its vendor's signed receipts: one suite, run for each provider.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import type { ReportedStatus } from '../../../machines/otp.ts'
import {
  BadCallback,
  BadSignature,
  type Callback,
  type CallbackItem,
  type ReceiptFailure,
} from '../../../services/channel/provider.ts'
import { DELIVERY_ID } from './provider-fixtures.ts'

interface ReceiptCases {
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
  /** The headers that hold the signature. Each of their bytes counts. */
  signedHeaders: readonly string[]
  /** Callbacks that are signed with another secret, or not as documented. */
  forged: readonly Callback[]
  /** Signs any body; missing where the vendor signs the fields of a form. */
  sign?(body: string | Buffer): Callback
  /** Signed bodies that are no callback of this vendor, beside those that are none of any. */
  malformed?: readonly string[]
  /** Receipts that say why a message failed. */
  failures?: readonly [receipt: Callback, ReceiptFailure][]
}

const MAX_AGE_MS = 300_000

/** Words that no vendor has, but that every object of JavaScript has among them. */
const UNKNOWN_WORDS = ['something new', '', '__proto__', 'constructor']

/** Signed bodies that are no callback of any vendor. */
const MALFORMED = [
  '',
  '{',
  '{}',
  'null',
  '[]',
  '"text"',
  '7',
  'status=sent',
  '['.repeat(100_000),
  Buffer.from([0x22, 0xff, 0x22]),
  Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
]

const anyBody = fc.oneof(
  fc.uint8Array({ maxLength: 500 }),
  fc.json().map(text => Buffer.from(text)),
)

export function itTakesReceipts({
  parse,
  receipt,
  reference,
  statuses,
  ignored,
  signedAt,
  signedHeaders,
  forged,
  sign,
  malformed = [],
  failures = [],
}: ReceiptCases): void {
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
    expectRefused({ ...rest, body: Buffer.concat([Buffer.from('\u{feff}'), body]) })
    expectRefused({ ...rest, body: Buffer.alloc(0) })
  })

  it('are refused when a byte of their signature has changed, or is added, or all are missing', () => {
    const { headers, ...rest } = receipt('delivered')
    expectRefused({ ...rest, headers: {} })
    for (const name of signedHeaders) {
      const value = headers[name] ?? ''
      const replaced = [...value].flatMap((char, at) =>
        ['0', 'A', '']
          .filter(other => other.toLowerCase() !== char.toLowerCase())
          .map(other => value.slice(0, at) + other + value.slice(at + 1)),
      )
      const others = [`${value} `, `${value}0`, `0x${value}`, `+${value}`, `${value}.0`, value.split(/[ =]/).at(-1)]
      const odd = [undefined, '', '0', 'x', '-1', '1e9', 'NaN', 'ÿ'.repeat(64), '\ud800', '１８９３４５６０００']
      for (const other of [...replaced, ...others, ...odd])
        if (other !== value) expectRefused({ ...rest, headers: { ...headers, [name]: other } })
    }
  })

  it('are refused when they are signed with another secret, or not as documented', () => {
    for (const callback of forged) expectRefused(callback)
  })

  for (const [callback, failure] of failures)
    it(`give ${failure.reason} as the reason of ${failure.vendorCode}: ${Buffer.from(callback.body)}`, () => {
      expect(parse(callback)?.[0]).to.deep.include({ failure })
    })

  it('are refused for every random input', () => {
    const anyHeaders = fc.record(Object.fromEntries(signedHeaders.map(name => [name, fc.string()])))
    fc.assert(fc.property(anyBody, anyHeaders, (body, headers) => expectRefused({ ...receipt('sent'), headers, body })))
  })

  if (sign) {
    it('are bad callbacks when they are signed and cannot be parsed', () => {
      for (const body of [...MALFORMED, ...malformed])
        expect(() => parse(sign(body)), String(body).slice(0, 50)).to.throw(BadCallback)
    })

    it('are parsed or bad callbacks for every random input that is signed', () => {
      fc.assert(
        fc.property(anyBody, body => {
          try {
            return Array.isArray(parse(sign(Buffer.from(body))))
          } catch (error) {
            return error instanceof BadCallback
          }
        }),
      )
    })
  }

  if (signedAt !== undefined)
    it('are refused when they are more than five minutes old or ahead', () => {
      const call = receipt('delivered')
      for (const ms of [0, MAX_AGE_MS, -MAX_AGE_MS]) expect(parse(call, signedAt + ms)).to.have.lengthOf(1)
      for (const ms of [MAX_AGE_MS + 1, -MAX_AGE_MS - 1, 86_400_000]) expectRefused(call, signedAt + ms)
    })
}
