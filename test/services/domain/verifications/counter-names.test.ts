import { expect } from 'chai'
import { addressCounters } from '../../../../services/domain/verifications/counter-names.ts'

describe('the counters of a client address', () => {
  /** The networks that are counted, with the share of the limit that each may have. */
  const counted = (address: string): [string, number][] => {
    const keyring = { indexes: (_: string, network: string) => [network] }
    const counters = addressCounters(keyring, { app_id: 'app_a', mode: 'live' }, address)
    return counters.map(({ key, limitFactor }) => [key, limitFactor])
  }

  it('are one for IPv4, also if it is written as IPv6', () => {
    const expected = [['app_a:live:client_ip:8.8.8.8/32', 1]]
    expect(counted('8.8.8.8')).to.deep.equal(expected)
    expect(counted('::ffff:8.8.8.8')).to.deep.equal(expected)
  })

  it('are one for each network of IPv6, the smallest first', () =>
    expect(counted('2a00:1450:4001:81b::1')).to.deep.equal([
      ['app_a:live:client_ip:2a00:1450:4001:81b::/64', 1],
      ['app_a:live:client_ip:2a00:1450:4001:800::/56', 4],
      ['app_a:live:client_ip:2a00:1450:4001::/48', 16],
      ['app_a:live:client_ip:2a00:1450:4000::/40', 64],
    ]))
})
