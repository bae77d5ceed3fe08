import { expect } from 'chai'
import { isIpAddress, networkOf, publicIpAddress } from '../../infra/ip-address.ts'

describe('an IP address', () => {
  it('has one form', () => {
    for (const text of '0x7f.1 2130706433 1.2.3 01.2.3.4 example.com 1.2.3.4:80 [::1]'
      .split(' ')
      .concat('', ' 1.2.3.4'))
      expect(isIpAddress(text), text).to.equal(false)
  })

  it('that is private or reserved is not public', () => {
    const ipv4 = '10.0.0.1 192.168.1.1 172.16.0.1 127.0.0.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 192.0.2.1'
    const ipv6 = ':: ::1 fe80::1 fe80::1%eth0 fc00::1 2001:db8::1 ::ffff:10.0.0.1 ::ffff:7f00:1 4000::1 ::8.8.8.8'
    for (const text of `${ipv4} 198.18.0.1 255.255.255.255 ${ipv6} ::808:808`.split(' '))
      expect([isIpAddress(text), publicIpAddress(text)], text).to.deep.equal([true, null])
  })

  it('is IPv4 if it is an IPv4-mapped IPv6 address', () =>
    expect(publicIpAddress('::ffff:8.8.8.8')).to.equal('8.8.8.8'))

  it('has one canonical form', () =>
    expect(publicIpAddress('2A00:1450:0000:0000:0000:0000:0000:0001')).to.equal('2a00:1450::1'))

  it('belongs to the network of the length for its family', () => {
    const bits = { ipv4: 24, ipv6: 48 }
    expect(networkOf('203.0.113.77', bits)).to.equal('203.0.113.0/24')
    expect(networkOf('::ffff:203.0.113.77', bits)).to.equal('203.0.113.0/24')
    expect(networkOf('2a00:1450:4001:81b::1', bits)).to.equal('2a00:1450:4001::/48')
    expect(networkOf('8.8.8.8', { ipv4: 32, ipv6: 64 })).to.equal('8.8.8.8/32')
  })
})
