// Opens the sockets of outbound calls. In: whom undici wants to connect to. Out: a socket to an address that was judged, or an error.
// The guard stands here because only here is the address known that is really called: a name is looked up once, its addresses are
// judged, and the very address that passed is connected to. Nothing between those steps asks DNS again.
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { CheckAddress } from './address-check.ts'
import type { Lookup } from './lookup.ts'
import { ForbiddenTarget } from './outbound.ts'

export interface ConnectorDeps {
  checkAddress: CheckAddress
  lookup: Lookup
  /** Of one address, TLS included. */
  timeoutMs: number
  /** The certificate authority that is trusted, instead of the usual ones: tests have one of their own. */
  ca?: string | undefined
}

/** A name may have hundreds, all of them somebody else's: we are nobody's port scanner. */
const MAX_ADDRESSES_TRIED = 4

export function createGuardedConnector(deps: ConnectorDeps): buildConnector.connector {
  const { checkAddress, lookup, timeoutMs: timeout, ca } = deps
  // Said aloud, so that no environment variable can say otherwise.
  const open = buildConnector({ timeout, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) })
  const openSocket = (options: buildConnector.Options) =>
    new Promise<Socket>((resolve, reject) =>
      open(options, (error, socket) => (socket ? resolve(socket) : reject(error))),
    )

  async function connect(options: buildConnector.Options): Promise<Socket> {
    const { hostname, protocol } = options
    // Certificates name no root, and neither does SNI.
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

/** The addresses of a host that may be called, in their order; `ForbiddenTarget` when it has none. */
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
