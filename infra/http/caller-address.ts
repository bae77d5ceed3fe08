// In: a request: the peer of its connection and its X-Forwarded-For header. Out: the address of the caller. Any client can write the
// header, so it is read from the right, hop by hop, and only as long as a trusted proxy has written the hop.
import ipaddr from 'ipaddr.js'
import { isIpAddress, publicIpAddress } from '../ip-address.ts'

export interface Caller {
  /** In canonical form, an IPv4-mapped address as IPv4. Null if the connection is closed, or a trusted proxy gave no address. */
  address: string | null
  /** The caller's address, or that of the proxy that did not give it. Null if the connection is closed. */
  nearestKnown: string | null
  /** The address whose part of the header is ignored because it is not trusted; null if there is none. A public address is named only if it
   *  is the peer: a client behind a trusted proxy may have sent the header. */
  ignoredProxy: string | null
  /** The address that the ignored proxy gives; null where there is none. It is a claim: it may tell callers apart, and prove nothing. */
  forwarded: string | null
}

/** The part of Koa's context that is read. */
export interface CallerRequest {
  get(header: string): string
  req: { socket: { remoteAddress?: string | undefined } }
}

export type FindCaller = (request: CallerRequest) => Caller

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

/** One for a process: several parts ask for the caller of a request, and its header is read once. */
export function createFindCaller(trustedProxies: readonly string[]): FindCaller {
  const readCaller = createReadCaller(trustedProxies)
  const callers = new WeakMap<CallerRequest, Caller>()
  return request => {
    const known = callers.get(request)
    if (known) return known
    const caller = readCaller(request.req.socket.remoteAddress, request.get('x-forwarded-for'))
    callers.set(request, caller)
    return caller
  }
}

function createReadCaller(
  trustedProxies: readonly string[],
): (peer: string | undefined, forwardedFor: string) => Caller {
  const ranges = trustedProxies.map(cidr => ipaddr.parseCIDR(cidr))
  const isTrusted = (address: IpAddress): boolean =>
    ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  return (peer, forwardedFor) => {
    const hops = forwardedFor.split(',').reverse()
    let address = parseHop(peer ?? '')
    let nearestKnown: string | null = null
    for (const [at, hop] of hops.entries()) {
      if (address === null) break
      nearestKnown = address.toString()
      if (!isTrusted(address)) {
        const isLikelyProxy = at === 0 || publicIpAddress(nearestKnown) === null
        const ignoredProxy = isLikelyProxy && forwardedFor.trim() !== '' ? nearestKnown : null
        const forwarded = ignoredProxy === null ? null : (parseHop(hop)?.toString() ?? null)
        return { address: nearestKnown, nearestKnown, ignoredProxy, forwarded }
      }
      address = parseHop(hop)
    }
    const last = address?.toString() ?? null
    return { address: last, nearestKnown: last ?? nearestKnown, ignoredProxy: null, forwarded: null }
  }
}

/** The end user's address, or null if it is not public. */
export const clientAddressOf = ({ address }: Caller): string | null =>
  address === null ? null : publicIpAddress(address)

/** Removes the port that some proxies add, `203.0.113.7:4711` or `[2001:db8::7]:4711`, and a zone, as in `fe80::1%eth0`. */
function parseHop(hop: string): IpAddress | null {
  const bare = hop
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  return isIpAddress(bare) ? ipaddr.process(bare) : null
}
