import { expect } from 'chai'
import { createCheckAddress, isPrivateNetwork, type Verdict } from '../../../infra/outbound/address-check.ts'

/** Addresses and why they are refused. */
const REFUSED: Record<string, string> = {
  '127.0.0.1': 'loopback',
  '127.255.255.254': 'loopback',
  '10.0.0.1': 'private',
  '172.16.0.1': 'private',
  '172.31.255.255': 'private',
  '192.168.1.1': 'private',
  '100.64.0.1': 'carrier-grade NAT',
  '100.100.100.200': 'metadata of Alibaba Cloud, in carrier-grade NAT',
  '100.127.255.255': 'carrier-grade NAT',
  '169.254.0.1': 'link-local',
  '169.254.169.254': 'metadata',
  '169.254.170.2': 'metadata of AWS containers',
  '168.63.129.16': 'platform services of Azure',
  '0.0.0.0': 'unspecified',
  '0.1.2.3': 'this network',
  '192.0.0.1': 'protocol assignments',
  '192.0.0.192': 'metadata of Oracle Cloud',
  '192.0.2.1': 'documentation',
  '198.51.100.1': 'documentation',
  '203.0.113.1': 'documentation',
  '192.88.99.1': '6to4 relay',
  '198.18.0.1': 'benchmarks',
  '198.19.255.255': 'benchmarks',
  '192.31.196.1': 'AS112',
  '192.52.193.1': 'AMT',
  '192.175.48.1': 'AS112',
  '224.0.0.1': 'multicast',
  '239.255.255.255': 'multicast',
  '240.0.0.1': 'reserved',
  '255.255.255.255': 'broadcast',
  '::': 'unspecified',
  '::1': 'loopback',
  '::127.0.0.1': 'IPv4-compatible',
  '::8.8.8.8': 'IPv4-compatible, which is deprecated',
  '::7f00:1': 'IPv4-compatible in hex',
  '0:0:0:0:0:0:8.8.8.8': 'IPv4-compatible, spelled out',
  '::ffff:127.0.0.1': 'IPv4-mapped loopback',
  '::ffff:7f00:1': 'IPv4-mapped loopback in hex',
  '0:0:0:0:0:ffff:a9fe:a9fe': 'IPv4-mapped metadata',
  '::ffff:10.0.0.1': 'IPv4-mapped private',
  '::ffff:168.63.129.16': 'IPv4-mapped platform services',
  '::ffff:0:127.0.0.1': 'IPv4-translated',
  '::ffff:0:8.8.8.8': 'IPv4-translated',
  '64:ff9b::127.0.0.1': 'NAT64 of loopback',
  '64:ff9b::a9fe:a9fe': 'NAT64 of metadata',
  '64:ff9b::10.1.2.3': 'NAT64 of private',
  '64:ff9b::168.63.129.16': 'NAT64 of platform services',
  '64:ff9b:1::1': "NAT64's local prefix",
  '64:ff9b:1:ffff::8.8.8.8': "NAT64's local prefix",
  '64:ff9b:0:0:0:1:808:808': 'beside the NAT64 prefix',
  '2002:7f00:1::': '6to4 of loopback',
  '2002:0a00:0001::1': '6to4 of private',
  '2002:808:808::1': '6to4',
  '2001:0:7f00:1::': 'Teredo',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2': 'Teredo',
  '2600:1f00::5efe:a00:1': 'ISATAP',
  '2600:1f00::200:5efe:7f00:1': 'ISATAP',
  'fe80::1': 'link-local',
  'fe80::1%eth0': 'link-local with a zone',
  'fe80::a9fe:a9fe': 'link-local',
  'febf::1': 'link-local',
  'fec0::1': 'site-local',
  'fc00::1': 'unique local',
  'fd00:ec2::254': 'metadata of AWS',
  'fd20:ce::254': 'metadata of Google Cloud',
  'ff02::1': 'multicast',
  'ff0e::1': 'multicast',
  '100::1': 'discard',
  '100:0:0:1::1': 'discard',
  '2001:2::1': 'benchmarks',
  '2001:db8::1': 'documentation',
  '3fff::1': 'documentation',
  '3fff:fff::1': 'documentation',
  '2001:10::1': 'ORCHID',
  '2001:20::1': 'ORCHIDv2',
  '2001:3::1': 'AMT',
  '2001:4:112::1': 'AS112',
  '2620:4f:8000::1': 'AS112',
  '5f00::1': 'segment routing',
  '4000::1': 'not assigned',
  '8000::1': 'not assigned',
  // Node's lookup returns none of these. Programs disagree about what they mean.
  '2130706433': 'not four decimal numbers',
  '0x7f000001': 'not four decimal numbers',
  '0177.0.0.1': 'not four decimal numbers',
  '127.1': 'not four decimal numbers',
  '010.8.8.8': 'octal for some, decimal for others',
  '8.8.8.8.': 'not an address',
  '': 'not an address',
  localhost: 'not an address',
  '[::1]': 'not an address',
  '/var/run/docker.sock': 'not an address',
}

const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '100.63.255.255',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '169.253.255.255',
  '11.0.0.1',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '126.255.255.255',
  '128.0.0.1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '2003::1',
  '2001:200::1',
  '3ffe::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '64:ff9b::808:808',
]

describe('the address check', () => {
  const checkAddress = createCheckAddress([])
  for (const [address, why] of Object.entries(REFUSED))
    it(`refuses ${address || 'an empty address'} (${why})`, () => expect(checkAddress(address)).to.equal('refused'))

  for (const address of PUBLIC)
    it(`takes ${address} for public`, () => expect(checkAddress(address)).to.equal('public'))

  describe('where the operator allows some ranges', () => {
    const checkWithRanges = createCheckAddress([
      '10.1.0.0/16',
      '127.0.0.1/32',
      'fd00:1::/32',
      '64:ff9b:1::/48',
      '203.0.113.9/32',
    ])
    const CASES: Record<string, Verdict> = {
      '10.1.2.3': 'allowed',
      '10.2.0.1': 'refused',
      '127.0.0.1': 'allowed',
      '127.0.0.2': 'refused',
      '::ffff:10.1.2.3': 'allowed',
      '::ffff:10.2.2.3': 'refused',
      '64:ff9b::10.1.2.3': 'allowed',
      '64:ff9b::10.2.2.3': 'refused',
      '64:ff9b:1::1': 'allowed',
      '2002:0a01:0203::1': 'refused',
      'fd00:1::5': 'allowed',
      'fd00:2::5': 'refused',
      'fd00:1::5%eth0': 'allowed',
      '203.0.113.9': 'allowed',
      '::1': 'refused',
      '169.254.169.254': 'refused',
      '8.8.8.8': 'public',
    }
    for (const [address, verdict] of Object.entries(CASES))
      it(`says "${verdict}" for ${address}`, () => expect(checkWithRanges(address)).to.equal(verdict))
  })

  it('allows public addresses for plain http too where the operator names their range', () => {
    expect(createCheckAddress(['8.8.8.0/24'])('8.8.8.8')).to.equal('allowed')
  })

  it('allows everything where the operator allows everything', () => {
    for (const address of ['127.0.0.1', '169.254.169.254', '::1', '8.8.8.8'])
      expect(createCheckAddress('all')(address)).to.equal('allowed')
  })
})

describe('a private network', () => {
  for (const address of [
    '127.0.0.1',
    '0.0.0.0',
    '10.0.0.5',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.0.1',
    '::1',
    '::',
    'fd00::1',
    'fe80::1%eth0',
    '::ffff:10.0.0.5',
    '64:ff9b::10.0.0.5',
  ])
    it(`includes ${address}`, () => expect(isPrivateNetwork(address)).to.equal(true))

  for (const address of [
    '8.8.8.8',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2002:a00:5::1', // packets of 6to4 cross the internet
    '203.0.113.1',
    '172.32.0.1',
    'mail.example',
    '',
  ])
    it(`does not include ${JSON.stringify(address)}`, () => expect(isPrivateNetwork(address)).to.equal(false))
})
