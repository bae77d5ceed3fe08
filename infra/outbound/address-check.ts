// Decides which IP addresses may be called. In: an address, and the private targets that the operator allows. Out: whether it may be
// called, whether without TLS, and whether it is on a private network. Pure.
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'
import { isGlobal, parseIpAddress, unmapped } from '../ip-address.ts'

/** What the operator allows beside public addresses: everything, or a list of CIDRs. */
export type PrivateTargets = 'all' | readonly string[]

export type Verdict = 'refused' | 'public' | 'allowed'

export type CheckAddress = (address: string) => Verdict

/** `allowed`: the operator allows the address, even over plain http. `public`: it may be called over TLS only. */
export function createCheckAddress(privateTargets: PrivateTargets): CheckAddress {
  if (privateTargets === 'all') return () => 'allowed'
  const ranges = privateTargets.map(cidr => ipaddr.parseCIDR(cidr))
  return text => {
    const address = parseIpAddress(text)
    if (address === null) return 'refused'
    const destination = finalAddress(address)
    if ([address, destination].some(candidate => ranges.some(range => isWithin(candidate, range)))) return 'allowed'
    return isPublic(destination) ? 'public' : 'refused'
  }
}

const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** The IPv4 address that packets really go to, when an IPv6 address stands for one: a mapped address, or one in the well-known prefix of
 *  NAT64, which networks without IPv4 translate. */
function finalAddress(address: IPv4 | IPv6): IPv4 | IPv6 {
  const final = unmapped(address)
  return final.kind() === 'ipv6' && (final as IPv6).match(NAT64)
    ? new ipaddr.IPv4(final.toByteArray().slice(-4))
    : final
}

/** Azure's platform services answer there, inside every virtual machine. */
const AZURE_PLATFORM = '168.63.129.16'

function isPublic(address: IPv4 | IPv6): boolean {
  if (!isGlobal(address)) return false
  return address.kind() === 'ipv4' ? address.toString() !== AZURE_PLATFORM : !isTunnelToIpv4(address as IPv6)
}

/** ISATAP: an IPv6 address in any network whose last part contains an IPv4 address that packets are tunneled to. */
function isTunnelToIpv4({ parts }: IPv6): boolean {
  const [marker = 0, owner] = parts.slice(4)
  return (marker & ~0x0200) === 0 && owner === 0x5efe
}

/** Networks that packets reach without crossing the public internet: this machine, private networks, and a provider's own network. */
const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'unspecified', // connects to this machine
  'loopback',
  'private',
  'uniqueLocal',
  'linkLocal',
  'carrierGradeNat',
])

/** False for every other address, public or special: a caller that needs TLS on the public internet asks for it there too. */
export function isPrivateNetwork(text: string): boolean {
  const address = parseIpAddress(text)
  return address !== null && PRIVATE_RANGES.has(finalAddress(address).range())
}

function isWithin(address: IPv4 | IPv6, [network, bits]: [IPv4 | IPv6, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}
