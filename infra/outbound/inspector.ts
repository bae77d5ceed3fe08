// Tells whoever saves an address what the guard would say of it now. In: a URL or a host. Out: why it would be refused, or null. It
// spares people a wait for the first failure, and proves nothing: a name may lead elsewhere tomorrow, and the guard looks again then.
import { createCheckAddress, type PrivateTargets } from './address-check.ts'
import { permittedAddresses } from './connector.ts'
import { createDnsLookup, type Lookup } from './lookup.ts'
import { ForbiddenTarget } from './outbound.ts'
import { hostOf, targetOf } from './target.ts'

export interface Inspector {
  /** Null as well when the name cannot be looked up: it may be registered later. */
  url(address: string): Promise<string | null>
  host(host: string): Promise<string | null>
}

/** How whoever saves such an address is told. */
export const targetProblem = (findProblem: string): string => `would not be called: ${findProblem}`

export interface InspectorDeps {
  privateTargets: PrivateTargets
  /** Instead of DNS. */
  lookup?: Lookup | undefined
}

export function createInspector({ privateTargets, lookup: givenLookup }: InspectorDeps): Inspector {
  const checkAddress = createCheckAddress(privateTargets)
  const allowsPrivate = privateTargets.length > 0
  const lookup = givenLookup ?? createDnsLookup({ localNames: allowsPrivate })

  async function findProblem(check: () => Promise<unknown>): Promise<string | null> {
    try {
      await check()
      return null
    } catch (error) {
      return error instanceof ForbiddenTarget ? error.message : null
    }
  }
  return {
    url: address =>
      findProblem(async () => {
        const { host, origin } = targetOf(address, { plainHttp: allowsPrivate })
        await permittedAddresses(host, { checkAddress, lookup, tls: origin.startsWith('https:') })
      }),
    host: host => findProblem(async () => permittedAddresses(hostOf(host), { checkAddress, lookup, tls: true })),
  }
}
