// IP addresses. In: a text. Out: whether it is an address, IPv4 or public, and the network that contains it.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** By node:net, because ipaddr.js also accepts `0x7f.1`. */
export const isIpAddress = (text: string): boolean => isIP(text) !== 0

/** The address in canonical form, an IPv4-mapped one as IPv4. Null for a private or reserved address: it identifies no end user. */
export function publicIpAddress(text: string): string | null {
  if (!isIpAddress(text)) return null
  // A zone, as in `fe80::1%eth0`, has a meaning on one machine only.
  const address = ipaddr.process(text.replace(/%.*$/, ''))
  return address.range() === 'unicast' ? address.toString() : null
}

/** An IPv4-mapped address counts as IPv4. */
export const isIpv4 = (text: string): boolean => isIP(text) === 4 || ipaddr.process(text).kind() === 'ipv4'

const IPV4_BITS = 32

export interface NetworkBits {
  ipv4: number
  ipv6: number
}

/** The network of that length that contains the address, as `203.0.113.0/24`. An IPv4-mapped address counts as IPv4. */
export function networkOf(text: string, bits: NetworkBits): string {
  // A network of one address is that address, which node:net accepts in canonical form only.
  if (bits.ipv4 === IPV4_BITS && isIP(text) === 4) return `${text}/${IPV4_BITS}`
  const address = ipaddr.process(text)
  return address.kind() === 'ipv6'
    ? `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits.ipv6}`)}/${bits.ipv6}`
    : `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits.ipv4}`)}/${bits.ipv4}`
}
