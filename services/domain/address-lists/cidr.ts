// In: an address range as people write it. Out: its one canonical form, or null.
// `net.isIP` decides what an address is, because ipaddr.js also accepts `0x7f.1`. ipaddr.js only formats.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const MAPPED_BITS = 96

/** `45.95.147.9/24` and `45.95.147.0/24` are the same range; a bare address is a range of one. */
export function canonicalCidr(text: string): string | null {
  const [address = '', bits, ...more] = text.split('/')
  const version = address.includes('%') ? 0 : isIP(address)
  if (version === 0 || more.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(bits ?? '0')) return null
  const width = version === 4 ? 32 : 128
  const prefix = bits === undefined ? width : Number(bits)
  if (prefix > width) return null
  if (version === 4) return `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${prefix}`)}/${prefix}`
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${address}/${prefix}`)
  // Client addresses are unmapped to IPv4 before they are looked up, so an IPv4-mapped range would match none of them.
  if (network.isIPv4MappedAddress() && prefix >= MAPPED_BITS)
    return `${network.toIPv4Address()}/${prefix - MAPPED_BITS}`
  return `${network}/${prefix}`
}
