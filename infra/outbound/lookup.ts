// The addresses of a host. In: a name. Out: all of its addresses, IPv4 and IPv6 in turn: whichever of the two a network lacks, the
// second address will do.
// DNS is asked without the operating system's resolver, which blocks one of four threads per question: a tenant whose name server is
// slow would keep everybody waiting. Only where the operator allows private targets is it asked too: it knows /etc/hosts and the
// search domains of a cluster.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** Rejects when there are none. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** Three seconds in all: the second question is given twice the time. */
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
