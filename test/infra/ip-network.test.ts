import { expect } from 'chai'
import { networkOf } from '../../infra/ip-network.ts'

describe('the network of an address', () => {
  it('has the length for its family', () => {
    const bits = { ipv4: 24, ipv6: 48 }
    expect(networkOf('203.0.113.77', bits)).to.equal('203.0.113.0/24')
    expect(networkOf('::ffff:203.0.113.77', bits)).to.equal('203.0.113.0/24')
    expect(networkOf('2a00:1450:4001:81b::1', bits)).to.equal('2a00:1450:4001::/48')
    expect(networkOf('8.8.8.8', { ipv4: 32, ipv6: 64 })).to.equal('8.8.8.8/32')
  })
})
