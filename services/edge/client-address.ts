// In: the connection's peer and what proxies added. Out: the end user's address, or null when it says nothing. Anyone can write
// X-Forwarded-For, so it is believed only as far as it was written by trusted proxies: from the right, hop by hop.
import ipaddr from 'ipaddr.js'
import { isIpAddress, publicIpAddress } from '../../infra/ip-address.ts'

export type FindClientAddress = (peer: string | undefined, forwardedFor: string) => string | null

export function createFindClientAddress(trustedProxies: readonly string[]): FindClientAddress {
  const ranges = trustedProxies.map(cidr => ipaddr.parseCIDR(cidr))
  const isTrusted = (text: string): boolean => {
    const address = ipaddr.process(text)
    return ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  }
  return (peer, forwardedFor) => {
    let address = parseHop(peer ?? '')
    for (const hop of forwardedFor.split(',').reverse()) {
      if (address === null || !isTrusted(address)) break
      address = parseHop(hop)
    }
    return address === null ? null : publicIpAddress(address)
  }
}

/** Some proxies add the port: `203.0.113.7:4711`, `[2001:db8::7]:4711`. A zone (`fe80::1%eth0`) is the host's own affair. */
function parseHop(hop: string): string | null {
  const bare = hop
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  return isIpAddress(bare) ? bare : null
}
