// Which companies new prices would cut off: those whose balance pays for some message now and would not pay for it then. Their live sends
// of it would be refused with 402 within seconds.
import { scanAll } from '../../infra/store/scan.ts'
import { CHANNELS } from '../../machines/channels.ts'
import type { Price } from '../domain/money/documents.ts'
import { ANY_COUNTRY, priceList } from '../domain/money/price-list.ts'
import type { Company } from '../domain/tenancy/documents.ts'
import { CONSOLE_COMPANY_ID } from '../domain/users/console.ts'

type Balance = Pick<Company, '_id' | 'balance' | 'closed_at'>

/** Counts open companies. The console's own is left out: its codes cost nothing. */
export async function countCutOff(
  companies: Parameters<typeof scanAll<Company>>[0],
  before: readonly Price[],
  after: readonly Price[],
): Promise<{ companies: number; cut_off: number }> {
  const isCutOff = cutOffRule(before, after)
  const counts = { companies: 0, cut_off: 0 }
  for await (const company of scanAll(companies)) {
    if (!sends(company)) continue
    counts.companies += 1
    if (isCutOff(company.balance)) counts.cut_off += 1
  }
  return counts
}

const sends = ({ _id, closed_at = null }: Balance): boolean => _id !== CONSOLE_COMPANY_ID && closed_at === null

/** A balance is cut off when it lies between the old and the new price of some message. */
export function cutOffRule(before: readonly Price[], after: readonly Price[]): (balance: number) => boolean {
  const [was, willBe] = [priceList(before), priceList(after)]
  const countries = new Set([
    ANY_COUNTRY,
    ...before.map(({ country }) => country),
    ...after.map(({ country }) => country),
  ])
  const raised = CHANNELS.flatMap(channel =>
    [...countries].map(country => [was(channel, country), willBe(channel, country)] as const),
  ).filter(([old, now]) => now > old)
  return balance => raised.some(([old, now]) => old <= balance && balance < now)
}
