// Looks up the addresses of a host. In: a name. Out: all of its addresses, IPv4 and IPv6 in turn, so that on a network
// without one of the two the second address works. DNS is asked directly. The operating system's resolver blocks one of
// four threads per lookup, so one tenant's slow name server would delay all tenants. It is asked only where the
// operator allows private targets, because it knows /etc/hosts and a cluster's search domains.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Rejects when the host has no address. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** Three seconds in all: the second try has twice the time. */
const DNS_OPTIONS = { timeout: 1_000, tries: 2 }
const LOOPBACK = ['127.0.0.1', '::1']

export function createDnsLookup({ localNames }: { localNames: boolean }): Lookup {
  return async host => {
    if (isIP(host) !== 0) return [host]
    const name = host.toLowerCase().replace(/\.$/, '')
    if (name === 'localhost' || name.endsWith('.localhost')) return LOOPBACK
    try {
      return await queryDns(host)
    } catch (error) {
      if (!localNames) throw error
      const found = await systemLookup(host, { all: true })
      const ofFamily = (wanted: 4 | 6): string[] =>
        found.flatMap(({ address, family }) => (family === wanted ? address : []))
      return interleave(ofFamily(4), ofFamily(6))
    }
  }
}

async function queryDns(host: string): Promise<string[]> {
  const resolver = new Resolver(DNS_OPTIONS)
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = interleave(addressesIn(v4), addressesIn(v6))
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}

const addressesIn = (answer: PromiseSettledResult<string[]>): string[] =>
  answer.status === 'fulfilled' ? answer.value : []

const interleave = (v4: readonly string[], v6: readonly string[]): string[] =>
  Array.from({ length: Math.max(v4.length, v6.length) }, (_, at) => [
    ...v4.slice(at, at + 1),
    ...v6.slice(at, at + 1),
  ]).flat()
