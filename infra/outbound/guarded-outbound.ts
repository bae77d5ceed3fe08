// The only way out of this process. In: the private targets that the operator allows. Out: an `Outbound` that calls those and public
// addresses. Proxies are not supported: a proxy would connect in our place, past the address check.
import { Agent } from 'undici'
import { createCheckAddress, type PrivateTargets } from './address-check.ts'
import { createGuardedConnector, permittedAddresses } from './connector.ts'
import { callHttp } from './http-call.ts'
import { createDnsLookup, type Lookup } from './lookup.ts'
import { ForbiddenTarget, NotSent, type Outbound } from './outbound.ts'
import { hostOf, targetOf } from './target.ts'

export interface OutboundOptions {
  privateTargets: PrivateTargets
  /** Replaces DNS. */
  lookup?: Lookup
  ca?: string
  /** For one address of a host, TLS handshake included. */
  connectTimeoutMs?: number
  /** The maximum per origin; further calls wait for a connection. The default is more than any caller has in progress, so no call waits. */
  connections?: number
}

/** Callers end their calls by their signal; this timeout only catches a caller that does not. */
const BACKSTOP_MS = 120_000
/** Shorter than servers usually keep idle connections, so that a server seldom closes one while a request is being sent. */
const KEEP_ALIVE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 30_000 }

export function createOutbound(options: OutboundOptions): Outbound {
  const { privateTargets, ca, connectTimeoutMs = 5_000, connections = 512 } = options
  const checkAddress = createCheckAddress(privateTargets)
  const allowsPrivate = privateTargets.length > 0
  const lookup = options.lookup ?? createDnsLookup({ localNames: allowsPrivate })
  const agent = new Agent({
    connect: createGuardedConnector({ checkAddress, lookup, timeoutMs: connectTimeoutMs, ca }),
    connections,
    pipelining: 1,
    allowH2: false,
    ...KEEP_ALIVE,
    headersTimeout: BACKSTOP_MS,
    bodyTimeout: BACKSTOP_MS,
  })
  let closed: Promise<void> | undefined

  return {
    request: async request => callHttp(agent, targetOf(request.url, { plainHttp: allowsPrivate }), request),
    async resolve(host) {
      try {
        const [address] = await permittedAddresses(hostOf(host), { checkAddress, lookup, tls: true })
        return address
      } catch (cause) {
        if (cause instanceof ForbiddenTarget) throw new ForbiddenTarget(`${host}: ${cause.message}`)
        throw new NotSent(`${host}: ${cause instanceof Error ? cause.message : 'not found'}`, { cause })
      }
    },
    close() {
      closed ??= agent.destroy()
      return closed
    },
  }
}
