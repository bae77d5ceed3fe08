// Looks up the addresses of a host. In: a name. Out: all of its addresses, IPv4 and IPv6 in turn, so that on a network without one of the
// two the second address works.
// DNS is asked directly. The operating system's resolver blocks one of four threads per lookup, so one tenant's slow name server would
// delay all tenants. It is asked only where the operator allows private targets, because it knows /etc/hosts and a cluster's search domains.
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
      return interleave(...[4, 6].map(of => found.flatMap(({ address, family }) => (family === of ? address : []))))
    }
  }
}

async function queryDns(host: string): Promise<string[]> {
  const resolver = new Resolver(DNS_OPTIONS)
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = interleave(...[v4, v6].map(answer => (answer.status === 'fulfilled' ? answer.value : [])))
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason
  return found
}

const interleave = (...lists: string[][]): string[] =>
  Array.from({ length: Math.max(...lists.map(list => list.length)) }, (_, at) =>
    lists.flatMap(list => list.slice(at, at + 1)),
  ).flat()
