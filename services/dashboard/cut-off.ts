// Which companies new prices would cut off: those whose balance pays for some message now and would not pay for it then. Their live sends
// of it would be refused with 402 within seconds.
import { scanAll } from '../../infra/store/scan.ts'
import { PRICED } from '../../machines/channels.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { ANY_COUNTRY, type Price, priceList } from '../domain/money/prices.ts'
import { CONSOLE_COMPANY_ID } from '../domain/tenancy/console.ts'
import type { Company } from '../domain/tenancy/documents.ts'

/** Counts open companies that have a live key, and so can send. The console's own is left out: its codes cost nothing. */
export async function countCutOff(
  store: Pick<CountersignStore, 'docs'>,
  before: readonly Price[],
  after: readonly Price[],
  now: number,
): Promise<{ companies: number; cut_off: number }> {
  const isCutOff = cutOffRule(before, after, now)
  const withLiveKey = new Set<string>()
  for await (const { company_id } of scanAll(store.docs('keys'), { mode: 'live', revoked_at: null }))
    withLiveKey.add(company_id)
  const counts = { companies: 0, cut_off: 0 }
  for await (const company of scanAll(store.docs('companies'))) {
    if (!isOpenCustomer(company) || !withLiveKey.has(company._id)) continue
    counts.companies += 1
    if (isCutOff(company.balance)) counts.cut_off += 1
  }
  return counts
}

const isOpenCustomer = ({ _id, closed_at = null }: Pick<Company, '_id' | 'closed_at'>): boolean =>
  _id !== CONSOLE_COMPANY_ID && closed_at === null

/** A balance is cut off when it lies between the old and the new price of some message, at any time from now on. */
export function cutOffRule(
  before: readonly Price[],
  after: readonly Price[],
  now: number,
): (balance: number) => boolean {
  const [was, willBe] = [priceList(before), priceList(after)]
  const times = [...new Set(after.map(({ effective_at = now }) => effective_at)), now]
  const countries = new Set([
    ANY_COUNTRY,
    ...before.map(({ country }) => country),
    ...after.map(({ country }) => country),
  ])
  const raised = PRICED.flatMap(priced =>
    [...countries].flatMap(country =>
      times.map(at => [was(priced, country, now), willBe(priced, country, at)] as const),
    ),
  ).filter(([old, now]) => now > old)
  return balance => raised.some(([old, now]) => old <= balance && balance < now)
}
