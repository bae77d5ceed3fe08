// What an address is worth: whether it is one, whether it says anything about an end user, and the block that limits count by.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Exactly what node:net takes: ipaddr.js alone would also accept `0x7f.1`. */
export const isIpAddress = (text: string): boolean => isIP(text) !== 0

/** The address in one canonical form, IPv4-mapped unwrapped; null when it is private or reserved and so says nothing. */
export function publicIpAddress(text: string): string | null {
  if (!isIpAddress(text)) return null
  // A zone (`fe80::1%eth0`) is some machine's own affair.
  const address = ipaddr.process(text.replace(/%.*$/, ''))
  return address.range() === 'unicast' ? address.toString() : null
}

const IPV6_BLOCK_BITS = 64

/** One household, not one address: an IPv6 user has a whole /64 to choose from. */
export function ipBlock(address: string): string {
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv6'
    ? ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/${IPV6_BLOCK_BITS}`).toString()
    : parsed.toString()
}
