// IP addresses. In: a text. Out: whether it is an address, whether it is public, and the block of addresses that limits count as one.
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

const IPV6_BLOCK_BITS = 64

/** An IPv6 user can take any address of a /64, so limits count the /64 as one. */
export function ipBlock(address: string): string {
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv6'
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${IPV6_BLOCK_BITS}`).toString()
    : parsed.toString()
}
