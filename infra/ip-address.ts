// IP addresses. In: a text. Out: whether it is an address, IPv4 or public, and the network that contains it.
import { isIP, isIPv4, isIPv6 } from 'node:net'
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

/** By node:net, because ipaddr.js also accepts `0x7f.1`. */
export const isIpAddress = (text: string): boolean => isIP(text) !== 0

/** Null for what is no address. A zone, as in `fe80::1%eth0`, has a meaning on one machine only and is left out. */
export function parseIpAddress(text: string): IPv4 | IPv6 | null {
  const bare = text.replace(/%.*$/, '')
  if (isIPv4(bare)) return ipaddr.IPv4.parse(bare)
  return isIPv6(bare) ? ipaddr.IPv6.parse(toHexNotation(bare)) : null
}

/** ipaddr.js takes `::8.8.8.8` for the mapped address `::ffff:8.8.8.8`; sockets do not. */
const toHexNotation = (v6: string): string => new URL(`http://[${v6}]`).hostname.slice(1, -1)

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** Whether the address is of the public internet. What is not assigned yet is not, so that a special range of the future is none either. */
export const isGlobal = (address: IPv4 | IPv6): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || (address as IPv6).match(GLOBAL_UNICAST))

/** An IPv4-mapped address as IPv4. */
export const unmapped = (address: IPv4 | IPv6): IPv4 | IPv6 =>
  address.kind() === 'ipv6' && (address as IPv6).isIPv4MappedAddress() ? (address as IPv6).toIPv4Address() : address

/** The address in canonical form, an IPv4-mapped one as IPv4. Null for a private or reserved address: it identifies no end user. */
export function publicIpAddress(text: string): string | null {
  const address = parseIpAddress(text)
  if (address === null) return null
  const final = unmapped(address)
  return isGlobal(final) ? final.toString() : null
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
