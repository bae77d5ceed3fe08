// What is known of an address: the worst class of the lists it stands in. Lists are re-read every few seconds.
import { BlockList, isIPv6 } from 'node:net'
import { cached } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { IpClass, IpRange } from '../../infra/tenancy/documents.ts'

/** `abusive` is refused, `suspect` (VPN, proxy, Tor, datacenter) is throttled. */
export type Reputation = 'abusive' | 'suspect' | 'unknown'

const FOR_MS = 5_000
const PAGE = 10_000

export function reputations({ ranges, clock }: { ranges: Docs<IpRange>; clock: Clock }) {
  const load = async (): Promise<Record<'abusive' | 'suspect', BlockList>> => {
    const lists = { abusive: new BlockList(), suspect: new BlockList() }
    for await (const { class: of, cidr } of all(ranges)) add(lists[weight(of)], cidr)
    return lists
  }
  const lists = cached(load, { forMs: FOR_MS, most: 1, clock })
  return async (address: string): Promise<Reputation> => {
    const { abusive, suspect } = await lists.get('all')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (abusive.check(address, family)) return 'abusive'
    return suspect.check(address, family) ? 'suspect' : 'unknown'
  }
}

const weight = (of: IpClass): 'abusive' | 'suspect' => (of === 'abusive' ? 'abusive' : 'suspect')

function add(list: BlockList, cidr: string): void {
  const [address = '', bits = ''] = cidr.split('/')
  list.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
}

async function* all(ranges: Docs<IpRange>): AsyncGenerator<IpRange> {
  let after = ''
  for (;;) {
    const page = await ranges.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: PAGE })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    after = last._id
  }
}
