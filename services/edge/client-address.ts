// In: the peer of a connection and its X-Forwarded-For header. Out: the end user's address, or null if it is not public. Any client can
// write the header, so it is read from the right, hop by hop, and only as long as a trusted proxy has written the hop.
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

/** Removes the port that some proxies add, `203.0.113.7:4711` or `[2001:db8::7]:4711`, and a zone, as in `fe80::1%eth0`. */
function parseHop(hop: string): string | null {
  const bare = hop
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  return isIpAddress(bare) ? bare : null
}
