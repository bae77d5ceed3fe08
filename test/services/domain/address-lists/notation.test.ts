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

describe('parseRange', () => {
  for (const [text, expected] of [
    ['0.0.0.0/0', '00000000-ffffffff'],
    ['1.2.3.4', '01020304-01020304'],
    ['1.2.3.4/32', '01020304-01020304'],
    ['1.2.3.4/31', '01020304-01020305'],
    ['255.255.255.255/1', '80000000-ffffffff'],
    ['45.95.147.9/24', '2d5f9300-2d5f93ff'],
    ['::/0', `${'0'.repeat(32)}-${'f'.repeat(32)}`],
    ['2a01:4f8::1/128', '2a0104f8000000000000000000000001-2a0104f8000000000000000000000001'],
    ['2A01:4F8::1/33', '2a0104f8000000000000000000000000-2a0104f87fffffffffffffffffffffff'],
    ['::ffff:1.2.3.4', '01020304-01020304'],
    ['::ffff:1.2.3.4/120', '01020300-010203ff'],
    ['::ffff:0:0/96', '00000000-ffffffff'],
    ['::ffff:0:0/95', '00000000000000000000fffe00000000-00000000000000000000ffffffffffff'],
  ] as const)
    it(`reads ${text} as ${expected}`, () => expect(range(text)).to.equal(expected))

  for (const text of [
    '',
    '/',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '0x7f.0.0.1',
    '1.2.3.256',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/08',
  ])
    it(`refuses "${text}"`, () => expect(range(text)).to.equal(null))

  for (const text of [
    'fe80::1%eth0',
    '1::2::3',
    ':::',
    '2a01::/129',
    '2a01::/-1',
    '12345::',
    `2a01::/${'0'.repeat(99)}1`,
  ])
    it(`refuses "${text}"`, () => expect(range(text)).to.equal(null))

  it('accepts what canonicalCidr accepts, with the same meaning', () => {
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
