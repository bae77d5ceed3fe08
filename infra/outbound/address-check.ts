// Which addresses may be called. In: an address a name resolved to, or that a URL holds, and what the operator allows. Out: whether
// it may be called, and whether without TLS. Pure.
// What is not known to be public is refused: an address family's next special range is then refused before we have heard of it.
import { isIPv6 } from 'node:net'
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

/** What the operator allows beside public addresses: everything, or these CIDRs. */
export type PrivateTargets = 'all' | readonly string[]

export type Verdict = 'refused' | 'public' | 'allowed'

export type CheckAddress = (address: string) => Verdict

/** `allowed`: the operator named it, plain http included. `public`: over TLS. */
export function createCheckAddress(privateTargets: PrivateTargets): CheckAddress {
  if (privateTargets === 'all') return () => 'allowed'
  const ranges = privateTargets.map(cidr => ipaddr.parseCIDR(cidr))
  return text => {
    const address = parseAddress(text)
    if (address === null) return 'refused'
    const destination = finalAddress(address)
    if ([address, destination].some(one => ranges.some(range => isWithin(one, range)))) return 'allowed'
    return isPublic(destination) ? 'public' : 'refused'
  }
}

/** A zone (`fe80::1%eth0`) says which wire, not which address. */
function parseAddress(text: string): IPv4 | IPv6 | null {
  const bare = text.replace(/%.*$/, '')
  // Four decimal numbers only: other notations were for whoever resolved the name, and must not mean two things.
  if (ipaddr.IPv4.isValidFourPartDecimal(bare)) return ipaddr.IPv4.parse(bare)
  return isIPv6(bare) ? ipaddr.IPv6.parse(toHexNotation(bare)) : null
}

/** ipaddr.js reads `::8.8.8.8` as the mapped `::ffff:8.8.8.8`; sockets do not. */
const toHexNotation = (v6: string): string => new URL(`http://[${v6}]`).hostname.slice(1, -1)

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** The IPv4 address that a packet ends at, where an IPv6 address is only a way of writing it: mapped, or translated by the network
 *  (NAT64's well-known prefix, which hosts without IPv4 find every IPv4 host under). */
function finalAddress(address: IPv4 | IPv6): IPv4 | IPv6 {
  if (address.kind() === 'ipv4') return address
  const v6 = address as IPv6
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address()
  return v6.match(NAT64) ? new ipaddr.IPv4(v6.toByteArray().slice(-4)) : v6
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** Azure's platform services answer there, from within every virtual machine. */
const AZURE_PLATFORM = '168.63.129.16'

function isPublic(address: IPv4 | IPv6): boolean {
  if (address.range() !== 'unicast') return false
  if (address.kind() === 'ipv4') return address.toString() !== AZURE_PLATFORM
  const v6 = address as IPv6
  return v6.match(GLOBAL_UNICAST) && !isTunnelToIpv4(v6)
}

/** ISATAP: within any network's /64, an interface that is named after an IPv4 address and tunnels to it. */
function isTunnelToIpv4({ parts }: IPv6): boolean {
  const [marker = 0, owner] = parts.slice(4)
  return (marker & ~0x0200) === 0 && owner === 0x5efe
}

function isWithin(address: IPv4 | IPv6, [network, bits]: [IPv4 | IPv6, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}
