// Checks an address when it is saved. In: a URL or a host. Out: the reason why a call to it would be refused now, or null. This shows a
// mistake early and proves nothing: a name may resolve to another address tomorrow, so every call is checked again.
import { createCheckAddress, type PrivateTargets } from './address-check.ts'
import { permittedAddresses } from './connector.ts'
import { createDnsLookup, type Lookup } from './lookup.ts'
import { ForbiddenTarget } from './outbound.ts'
import { hostOf, targetOf } from './target.ts'

export interface TargetInspector {
  /** Also null when the name cannot be looked up: it may be registered later. */
  url(address: string): Promise<string | null>
  host(host: string): Promise<string | null>
}

/** The error message for an address that cannot be saved. */
export const targetProblem = (reason: string): string => `would not be called: ${reason}`

export interface TargetInspectorDeps {
  privateTargets: PrivateTargets
  /** Replaces DNS. */
  lookup?: Lookup | undefined
}

export function createTargetInspector({ privateTargets, lookup: givenLookup }: TargetInspectorDeps): TargetInspector {
  const checkAddress = createCheckAddress(privateTargets)
  const allowsPrivate = privateTargets.length > 0
  const lookup = givenLookup ?? createDnsLookup({ localNames: allowsPrivate })

  async function refusalReason(check: () => Promise<unknown>): Promise<string | null> {
    try {
      await check()
      return null
    } catch (error) {
      return error instanceof ForbiddenTarget ? error.message : null
    }
  }

  return {
    url: address =>
      refusalReason(async () => {
        const { host, origin } = targetOf(address, { plainHttp: allowsPrivate })
        await permittedAddresses(host, { checkAddress, lookup, tls: origin.startsWith('https:') })
      }),
    host: host => refusalReason(async () => permittedAddresses(hostOf(host), { checkAddress, lookup, tls: true })),
  }
}
