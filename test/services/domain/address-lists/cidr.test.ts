import { expect } from 'chai'
import { canonicalCidr } from '../../../../services/domain/address-lists/cidr.ts'

describe('canonicalCidr', () => {
  const same: [string, string][] = [
    ['45.95.147.0/24', '45.95.147.0/24'],
    ['45.95.147.9/24', '45.95.147.0/24'],
    ['10.0.0.1', '10.0.0.1/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:0DB8:0:0::1/64', '2001:db8::/64'],
    ['2001:db8::1', '2001:db8::1/128'],
    ['::ffff:10.1.2.3/120', '10.1.2.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::/0', '::/0'],
  ]
  for (const [written, canonical] of same) {
    it(`turns ${written} into ${canonical}`, () => {
      expect(canonicalCidr(written)).to.equal(canonical)
      expect(canonicalCidr(canonical)).to.equal(canonical)
    })
  }

  for (const bad of [
    '',
    'example.com',
    '45.95.147.0/33',
    '45.95.147.0/',
    '45.95.147.0/24/24',
    '45.95.147.0/-1',
    '45.95.147.0/08',
    '45.95.147.0/0x8',
    '45.95.147/24',
    '0x7f.1/8',
    '2130706433/8',
    '010.0.0.1/8',
    '2001:db8::/129',
    'fe80::1%eth0/64',
    ' 10.0.0.0/8',
  ]) {
    it(`refuses "${bad}"`, () => expect(canonicalCidr(bad)).to.equal(null))
  }
})
