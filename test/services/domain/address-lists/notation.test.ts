import { isIP } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { canonicalCidr } from '../../../../services/domain/address-lists/cidr.ts'
import { createRangeBuffer, parseAddress, parseRange } from '../../../../services/domain/address-lists/notation.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const range = (text: string): string | null => {
  const into = createRangeBuffer()
  const words = parseRange(text, into)
  if (words === 0) return null
  const shown = [...into.subarray(0, 2 * words)].map(word => word.toString(16).padStart(8, '0'))
  return `${shown.slice(0, words).join('')}-${shown.slice(words).join('')}`
}

const hex = (cidr: string): string => {
  const [address = '', bits = ''] = cidr.split('/')
  const bytes = ipaddr.parse(address).toByteArray()
  const last = bytes.map((byte, at) => byte | (0xff >> Math.min(Math.max(Number(bits) - 8 * at, 0), 8)))
  const text = (some: number[]): string => some.map(byte => byte.toString(16).padStart(2, '0')).join('')
  return `${text(bytes)}-${text(last)}`
}

/** Almost ranges: typing mistakes, and texts that some programs accept as addresses. */
const nearly = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef.:/%x- '), maxLength: 50 }),
  fc
    .tuple(fc.ipV4(), fc.constantFrom('', '/', '/0', '/8', '/08', '/32', '/33', '/-1', '/ 8', '/8/8'))
    .map(both => both.join('')),
  fc
    .tuple(fc.ipV6(), fc.constantFrom('', '/', '/0', '/64', '/128', '/129', '/1e1', '%eth0'))
    .map(both => both.join('')),
)

/** Each text with its canonical form; null for texts that are no range. */
const TEXTS: Record<string, string | null> = {
  '0.0.0.0/0': '0.0.0.0/0',
  '45.95.147.9/24': '45.95.147.0/24',
  '::/0': '::/0',
  '2001:db8::1': '2001:db8::1/128',
  '2001:0DB8:0:0::1/64': '2001:db8::/64',
  '::ffff:1.2.3.4': '1.2.3.4/32',
  '::ffff:10.1.2.3/120': '10.1.2.0/24',
}
for (const bad of [
  '',
  '1.2.3',
  '01.2.3.4',
  '010.0.0.1/8',
  '0x7f.1/8',
  '2130706433/8',
  '1.2.3.256',
  '1.2.3.4/33',
  '1.2.3.4/08',
  '1.2.3.4/0x8',
  'fe80::1%eth0/64',
  ':::',
  '2a01::/129',
  '12345::',
  ' 10.0.0.0/8',
  `2a01::/${'0'.repeat(99)}1`,
])
  TEXTS[bad] = null

describe('parseRange and canonicalCidr', () => {
  for (const [text, canonical] of Object.entries(TEXTS))
    it(canonical === null ? `refuse "${text}"` : `read ${text} as ${canonical}`, () => {
      expect(canonicalCidr(text)).to.equal(canonical)
      expect(range(text)).to.equal(canonical === null ? null : hex(canonical))
      if (canonical !== null) expect(canonicalCidr(canonical)).to.equal(canonical)
    })

  it('keep a range of IPv6 that has all IPv4-mapped addresses and more', () => {
    expect(range('::ffff:0:0/95')).to.equal('00000000000000000000fffe00000000-00000000000000000000ffffffffffff')
  })

  it('accept the same texts, with the same meaning', () => {
    fc.assert(
      fc.property(nearly, text => {
        const canonical = canonicalCidr(text)
        // ipaddr.js reads `::8.8.8.8` as the mapped `::ffff:8.8.8.8`.
        fc.pre(!/^::(0*:)*\d+\.\d+\.\d+\.\d+/.test(text))
        expect(range(text)).to.equal(canonical === null ? null : hex(canonical))
      }),
      { numRuns: propertyRuns(600) },
    )
  })
})

describe('parseAddress', () => {
  it('accepts what node:net accepts', () => {
    fc.assert(
      fc.property(nearly, text => {
        fc.pre(!text.includes('%'))
        const words = parseAddress(text, createRangeBuffer())
        expect(words).to.equal({ 0: 0, 4: 1, 6: 4 }[isIP(text)])
      }),
      { numRuns: propertyRuns(600) },
    )
  })
})
