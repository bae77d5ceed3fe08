// Tells whoever saves an address what the guard would say of it now. In: a URL or a host. Out: why it would be refused, or null. It
// spares people a wait for the first failure, and proves nothing: a name may lead elsewhere tomorrow, and the guard looks again then.
import { judging, type PrivateTargets } from './addresses.ts'
import { permitted } from './connector.ts'
import { dnsLookup, type Lookup } from './lookup.ts'
import { ForbiddenTarget } from './outbound.ts'
import { hostOf, targetOf } from './target.ts'

export interface Inspector {
  /** Null as well when the name cannot be looked up: it may be registered later. */
  url(address: string): Promise<string | null>
  host(host: string): Promise<string | null>
}

/** How whoever saves such an address is told. */
export const notCalled = (refusal: string): string => `would not be called: ${refusal}`

export interface InspectorParts {
  privateTargets: PrivateTargets
  /** Instead of DNS. */
  lookup?: Lookup | undefined
}

export function inspecting({ privateTargets, lookup: given }: InspectorParts): Inspector {
  const judge = judging(privateTargets)
  const allowsPrivate = privateTargets.length > 0
  const lookup = given ?? dnsLookup({ localNames: allowsPrivate })

  async function refusal(look: () => Promise<unknown>): Promise<string | null> {
    try {
      await look()
      return null
    } catch (error) {
      return error instanceof ForbiddenTarget ? error.message : null
    }
  }
  return {
    url: address =>
      refusal(async () => {
        const { host, origin } = targetOf(address, { plainHttp: allowsPrivate })
        await permitted(host, { judge, lookup, tls: origin.startsWith('https:') })
      }),
    host: host => refusal(async () => permitted(hostOf(host), { judge, lookup, tls: true })),
  }
}
