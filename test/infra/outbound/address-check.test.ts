import { expect } from 'chai'
import { createCheckAddress, isPrivateNetwork, type Verdict } from '../../../infra/outbound/address-check.ts'

/** Addresses by why they are refused. Node's lookup returns none of the last two kinds; programs disagree about what those mean. */
const REFUSED: Record<string, string> = {
  loopback: '127.0.0.1 127.255.255.254 ::1',
  private: '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1',
  'carrier-grade NAT': '100.64.0.1 100.127.255.255',
  'metadata of clouds': `100.100.100.200 169.254.169.254 169.254.170.2 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254`,
  'link-local, site-local and unique local': `169.254.0.1 fe80::1 fe80::1%eth0 fe80::a9fe:a9fe febf::1 fec0::1 fc00::1`,
  unspecified: '0.0.0.0 0.1.2.3 ::',
  reserved: '192.0.0.1 240.0.0.1 255.255.255.255 4000::1 8000::1',
  'documentation, discard, benchmarks': `
    192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.255.255 100::1 100:0:0:1::1 2001:2::1
    2001:db8::1 3fff::1 3fff:fff::1`,
  '6to4': '192.88.99.1 2002:7f00:1:: 2002:0a00:0001::1 2002:808:808::1',
  'ORCHID, AMT, AS112, segment routing': `
    192.31.196.1 192.52.193.1 192.175.48.1 2001:10::1 2001:20::1 2001:3::1 2001:4:112::1 2620:4f:8000::1
    5f00::1`,
  multicast: '224.0.0.1 239.255.255.255 ff02::1 ff0e::1',
  'IPv4-compatible': '::127.0.0.1 ::8.8.8.8 ::7f00:1 0:0:0:0:0:0:8.8.8.8',
  'IPv4-mapped': '::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:a9fe:a9fe ::ffff:10.0.0.1 ::ffff:168.63.129.16',
  'IPv4-translated': '::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8',
  'NAT64 of those': '64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::10.1.2.3 64:ff9b::168.63.129.16',
  "NAT64's local prefix, and beside NAT64": '64:ff9b:1::1 64:ff9b:1:ffff::8.8.8.8 64:ff9b:0:0:0:1:808:808',
  'Teredo and ISATAP': `2001:0:7f00:1:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2600:1f00::5efe:a00:1
    2600:1f00::200:5efe:7f00:1`,
  'not four decimal numbers': '2130706433 0x7f000001 0177.0.0.1 127.1 010.8.8.8',
  'not an address': '8.8.8.8. localhost [::1] /var/run/docker.sock',
}

const PUBLIC = `8.8.8.8 1.1.1.1 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 169.253.255.255 11.0.0.1 192.167.255.255
  198.17.255.255 198.20.0.1 223.255.255.255 126.255.255.255 128.0.0.1 2001:4860:4860::8888 2606:4700:4700::1111
  2a00:1450:4001::1 2003::1 2001:200::1 3ffe::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::808:808`
const words = (text: string): string[] => text.trim().split(/\s+/)

describe('the address check', () => {
  const checkAddress = createCheckAddress([])
  for (const [why, addresses] of Object.entries(REFUSED))
    it(`refuses addresses: ${why}`, () => {
      for (const address of words(addresses)) expect(checkAddress(address), address).to.equal('refused')
    })

  it('refuses an empty address, and takes others for public', () => {
    expect(checkAddress('')).to.equal('refused')
    for (const address of words(PUBLIC)) expect(checkAddress(address), address).to.equal('public')
  })

  it('allows the ranges that the operator names, for plain http too', () => {
    const ranges = ['10.1.0.0/16', '127.0.0.1/32', 'fd00:1::/32', '64:ff9b:1::/48', '203.0.113.9/32']
    const check = createCheckAddress(ranges)
    const verdicts: Record<Verdict, string> = {
      allowed: '10.1.2.3 127.0.0.1 ::ffff:10.1.2.3 64:ff9b::10.1.2.3 64:ff9b:1::1 fd00:1::5 fd00:1::5%eth0 203.0.113.9',
      refused: `10.2.0.1 127.0.0.2 ::ffff:10.2.2.3 64:ff9b::10.2.2.3 2002:0a01:0203::1 fd00:2::5 ::1 169.254.169.254`,
      public: '8.8.8.8',
    }
    for (const [verdict, addresses] of Object.entries(verdicts))
      for (const address of words(addresses)) expect(check(address), address).to.equal(verdict)
    expect(createCheckAddress(['8.8.8.0/24'])('8.8.8.8')).to.equal('allowed')
    for (const address of words('127.0.0.1 169.254.169.254 ::1 8.8.8.8'))
      expect(createCheckAddress('all')(address)).to.equal('allowed')
  })
})

describe('a private network', () => {
  it('includes the addresses that no packet on the internet has', () => {
    const within = `127.0.0.1 0.0.0.0 10.0.0.5 172.16.0.1 192.168.1.1 100.64.0.1 169.254.0.1 ::1 :: fd00::1 fe80::1%eth0
      ::ffff:10.0.0.5 64:ff9b::10.0.0.5`
    for (const address of words(within)) expect(isPrivateNetwork(address), address).to.equal(true)
    // Packets of 6to4 cross the internet.
    const others =
      '8.8.8.8 2606:4700::1111 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:a00:5::1 203.0.113.1 172.32.0.1 mail.example'
    for (const address of [...words(others), '']) expect(isPrivateNetwork(address), address).to.equal(false)
  })
})
