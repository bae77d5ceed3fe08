// Opens the sockets of outbound calls. In: the host that undici wants to connect to. Out: a socket to an address that was checked, or an
// error. The check is made here because only here the address is known that is really called: the name is looked up once, its addresses
// are checked, and the socket connects to an address that passed. DNS is not asked again in between.
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { CheckAddress } from './address-check.ts'
import type { Lookup } from './lookup.ts'
import { ForbiddenTarget } from './outbound.ts'

export interface ConnectorDeps {
  checkAddress: CheckAddress
  lookup: Lookup
  /** For connecting to one address, TLS handshake included. */
  timeoutMs: number
  /** The only trusted certificate authority, in place of the usual ones. Tests have their own. */
  ca?: string | undefined
}

/** A tenant's name may have hundreds of addresses of others; trying them all would make us a port scanner. */
const MAX_ADDRESSES_TRIED = 4

export function createGuardedConnector(deps: ConnectorDeps): buildConnector.connector {
  const { checkAddress, lookup, timeoutMs: timeout, ca } = deps
  // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED would change the default.
  const open = buildConnector({ timeout, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) })
  const openSocket = (options: buildConnector.Options) =>
    new Promise<Socket>((resolve, reject) =>
      open(options, (error, socket) => (socket ? resolve(socket) : reject(error))),
    )

  async function connect(options: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol } = options
    // Names in certificates and in SNI have no dot at the end.
    const servername = hostname.replace(/\.$/, '')
    let lastError: unknown
    const addresses = await permittedAddresses(hostname, { checkAddress, lookup, tls: protocol === 'https:' })
    for (const address of addresses.slice(0, MAX_ADDRESSES_TRIED))
      try {
        return await openSocket({ ...options, hostname: address, ...(address === hostname ? {} : { servername }) })
      } catch (error) {
        lastError = error
      }
    throw lastError
  }

  return (options, callback) =>
    void connect(options).then(
      socket => callback(null, socket),
      error => callback(error as Error, null),
    )
}

/** The addresses of a host that may be called, in the lookup's order. Throws `ForbiddenTarget` when there are none. */
export async function permittedAddresses(
  host: string,
  { checkAddress, lookup, tls }: Pick<ConnectorDeps, 'checkAddress' | 'lookup'> & { tls: boolean },
): Promise<[string, ...string[]]> {
  const [first, ...others] = (await lookup(host)).filter(address => {
    const verdict = checkAddress(address)
    return verdict === 'allowed' || (verdict === 'public' && tls)
  })
  if (first === undefined) throw new ForbiddenTarget(tls ? 'not a public address' : 'plain http is not allowed there')
  return [first, ...others]
}
