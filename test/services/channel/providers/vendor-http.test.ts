import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { callVendor, parseJson, retryAfterMs } from '../../../../services/channel/providers/vendor-http.ts'
import { thrownBy } from '../../../support/vendors/provider-fixtures.ts'

const NOW = Date.UTC(2030, 0, 1)

describe('an answer of a vendor', () => {
  describe('Retry-After', () => {
    it('means seconds or a time, and nothing in any other form', () => {
      for (const [header, ms] of [
        ['0', 0],
        [' 3 ', 3_000],
        ['86400', 86_400_000],
        ['9'.repeat(400), Number.POSITIVE_INFINITY],
        ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
        ['Tuesday, 01-Jan-30 00:00:30 GMT', 30_000],
        ['Tue Jan  1 00:00:30 2030 GMT', 30_000],
        ['Mon, 31 Dec 2029 23:59:59 GMT', 0],
        ...[undefined, '', '-5', '1.5', '1e3', '0x10', 'soon', 'Tue, 01 Foo 2030', '2030-01-01', '١٢'].map(
          header => [header, null] as const,
        ),
      ] as const)
        expect(retryAfterMs(header, NOW), String(header)).to.equal(ms)
    })

    it('is ignored or means a time to come for every random header', () => {
      fc.assert(
        fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.date().map(String)), header => {
          const ms = retryAfterMs(header, NOW)
          expect(ms === null || ms >= 0).to.equal(true)
        }),
      )
    })
  })

  it('does not hide a bug', async () => {
    const bug = new TypeError('not a URL')
    const outbound = { request: () => Promise.reject(bug) }
    const request = { method: 'GET', url: '', headers: {}, signal: new AbortController().signal } as const
    expect(await thrownBy(callVendor(outbound, request))).to.equal(bug)
  })

  it('is parsed as JSON, and undefined if it is none', () => {
    expect(parseJson(Buffer.from('{"a":1}'))).to.deep.equal({ a: 1 })
    expect(parseJson(Buffer.from('\u{feff}{"a":1}'))).to.deep.equal({ a: 1 })
    for (const broken of [
      Buffer.from('{'),
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.alloc(0),
      Buffer.from('['.repeat(1e6)),
    ])
      expect(parseJson(broken)).to.equal(undefined)
  })
})
