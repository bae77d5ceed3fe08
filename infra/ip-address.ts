// IP addresses. In: a text. Out: whether it is an address, whether it is public, and the networks that contain it.
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

/** The networks that contain an IPv6 address, one for each length of prefix, as their leading hexadecimal digits. The lengths are
 *  multiples of four. An IPv4 address, also one that is mapped into IPv6, is a network of its own. */
export function networksOf(address: string, ipv6PrefixBits: readonly number[]): string[] {
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return [parsed.toString()]
  const digits = parsed.parts.map(part => part.toString(16).padStart(4, '0')).join('')
  return ipv6PrefixBits.map(bits => `${digits.slice(0, bits / 4)}/${bits}`)
}
