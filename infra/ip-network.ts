// In: an IP address and a length. Out: the network of that length that contains the address, as `203.0.113.0/24`.
import ipaddr from 'ipaddr.js'

export interface NetworkBits {
  ipv4: number
  ipv6: number
}

/** An IPv4-mapped address counts as IPv4. */
export function networkOf(text: string, bits: NetworkBits): string {
  const address = ipaddr.process(text)
  return address.kind() === 'ipv6'
    ? `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits.ipv6}`)}/${bits.ipv6}`
    : `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits.ipv4}`)}/${bits.ipv4}`
}
