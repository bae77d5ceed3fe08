// The one way out of this process. In: what the operator allows beside public addresses. Out: `Outbound`, which calls nobody else.
// It knows nothing of proxies: a proxy would connect in our place, past the guard.
import { Agent } from 'undici'
import { createCheckAddress, type PrivateTargets } from './address-check.ts'
import { createGuardedConnector, permittedAddresses } from './connector.ts'
import { callHttp } from './http-call.ts'
import { createDnsLookup, type Lookup } from './lookup.ts'
import { ForbiddenTarget, NotSent, type Outbound } from './outbound.ts'
import { hostOf, targetOf } from './target.ts'

export interface OutboundOptions {
  privateTargets: PrivateTargets
  /** Instead of DNS. */
  lookup?: Lookup
  ca?: string
  /** For one address of a host, TLS included. */
  connectTimeoutMs?: number
  /** To one origin; what is more waits for one of them. More than any caller has under way, so that nobody waits for others. */
  connections?: number
}

/** Callers end their calls themselves, by their signal; these only catch one that forgot. */
const BACKSTOP_MS = 120_000
/** Kept for less time than servers keep theirs, so that they seldom hang up on a request that is on its way. */
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
