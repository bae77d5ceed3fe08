// Checks a company's money by reading all of it. In: a company. Out: every contradiction, in words; none when all agrees.
//   the ledger    has no gap; every balance is the balance before plus the entry; the last one is the company's balance
//   deliveries    every paid delivery has a hold; every failed one has a refund, and one whose code was entered a charge after it, or they
//                 are in its outbox
//   holds         every hold has a delivery, or was given back, or its send is under way, or the sweeper is about to check it
//   caps          every spend cap has counted its holds, less those that were given back
import { getOne } from '../../../infra/store/one-doc.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { waitingItems } from '../../domain/money/batches.ts'
import { type LedgerItem, ledgerId } from '../../domain/money/documents.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import type { ReconciliationAnswer } from './schemas.ts'

const MAX_PROBLEMS = 100
const READ_AT_ONCE = 500

export async function reconcile(store: CountersignStore, company_id: string): Promise<ReconciliationAnswer> {
  const company = await getOne(store.docs('companies'), company_id)
  if (!company) throw new Error(`there is no company ${company_id}`)
  const { balance, seq } = company
  const problems: string[] = []

  // The company is read before the ledger: an entry that moves from one to the other meanwhile is seen twice and counted once.
  const items = new Map<number, LedgerItem>(waitingItems(company).map(item => [item.seq, item]))
  /** A hold comes to the ledger without a check once its delivery is saved. Until then its delivery need not be there. */
  const unconfirmed = new Set(items.keys())
  const last = ledgerId(company_id, seq)
  for await (const item of scanAll(store.docs('ledger'), { company_id })) {
    if (item._id > last) continue
    items.set(item.seq, item)
    if (item.check_at) unconfirmed.add(item.seq)
    else unconfirmed.delete(item.seq)
  }
  const { sum } = checkLedger(items, { balance, seq }, problems)
  checkCaps(items, company.spent, problems)

  const itemsByName = new Map([...items.values()].map(item => [item.entry, item]))
  const paid = new Set<string>()
  /** Deliveries that may have changed since the ledger was read: each is checked again by itself. */
  const suspects: [otp_id: string, delivery_id: string][] = []
  let deliveries = 0
  for await (const app of scanAll(store.docs('apps'), { company_id }))
    for await (const otp of scanAll(store.docs('otps'), { app_id: app._id }))
      for (const delivery of otp.context.deliveries) {
        if (!delivery.micros) continue
        deliveries += 1
        paid.add(delivery.delivery_id)
        if (deliveryProblems(otp, delivery, itemsByName).length > 0) suspects.push([otp._id, delivery.delivery_id])
      }
  for (const suspect of suspects) problems.push(...(await recheckDelivery(store, company_id, suspect)))
  const unmatched = [...items.values()].filter(
    ({ kind, delivery_id, seq }) =>
      kind === 'hold' &&
      delivery_id !== null &&
      !paid.has(delivery_id) &&
      !unconfirmed.has(seq) &&
      !itemsByName.has(`back:${delivery_id}`),
  )
  // Most of them are of verifications that were erased: the ledger is kept longer.
  for (let from = 0; from < unmatched.length; from += READ_AT_ONCE) {
    const some = unmatched.slice(from, from + READ_AT_ONCE)
    const kept = await store.docs('otps').get(some.flatMap(({ otp_id }) => otp_id ?? []))
    for (const { delivery_id, otp_id } of some)
      if (kept.has(otp_id ?? '')) problems.push(`${delivery_id}: held for, and there is none`)
  }
  return { balance, entries: items.size, sum, deliveries, problems: problems.slice(0, MAX_PROBLEMS) }
}

function checkLedger(
  items: ReadonlyMap<number, LedgerItem>,
  { balance, seq }: { balance: number; seq: number },
  problems: string[],
): { sum: number } {
  let sum = 0
  for (let at = 1; at <= seq; at += 1) {
    const item = items.get(at)
    if (!item) problems.push(`entry ${at} is missing`)
    sum += item?.micros ?? 0
    if (item && item.balance_after !== sum) problems.push(`entry ${at} leaves ${item.balance_after}, not ${sum}`)
    if (sum < 0 && item && item.micros < 0 && item.kind !== 'recharge') problems.push(`entry ${at} overdraws`)
  }
  if (sum !== balance) problems.push(`the balance is ${balance}, its entries come to ${sum}`)
  return { sum }
}

function checkCaps(
  items: ReadonlyMap<number, LedgerItem>,
  spent: Readonly<Record<string, number>>,
  problems: string[],
): void {
  const capKeys = new Map([...items.values()].map(({ entry, cap_key }) => [entry, cap_key]))
  const spentByKey = new Map<string, number>()
  for (const { kind, delivery_id, micros } of items.values()) {
    const key = kind === 'credit' ? undefined : capKeys.get(`hold:${delivery_id}`)
    if (key !== undefined) spentByKey.set(key, (spentByKey.get(key) ?? 0) - micros)
  }
  for (const [key, micros] of Object.entries(spent))
    if (micros !== (spentByKey.get(key) ?? 0))
      problems.push(`cap ${key} has counted ${micros}, not ${spentByKey.get(key) ?? 0}`)
}

type PaidDelivery = OtpDoc['context']['deliveries'][number]

function deliveryProblems(
  otp: OtpDoc,
  { delivery_id, micros, status, charge }: PaidDelivery,
  itemsByName: ReadonlyMap<string, LedgerItem>,
) {
  const hold = itemsByName.get(`hold:${delivery_id}`)
  const refund = itemsByName.get(`back:${delivery_id}`)
  const recharge = itemsByName.get(`${delivery_id}:recharge`)
  const isInOutbox = (effect: 'refund' | 'recharge') => otp.outbox.some(({ id }) => id === `${delivery_id}:${effect}`)
  const isRefunded = status === 'failed' && charge !== 'kept'
  return [
    ...(hold?.micros === -micros ? [] : [`${delivery_id}: costs ${micros}, held is ${-(hold?.micros ?? 0)}`]),
    ...(isRefunded && !refund && !isInOutbox('refund') ? [`${delivery_id}: failed and not given back`] : []),
    ...(!isRefunded && refund ? [`${delivery_id}: given back, and ${status}`] : []),
    ...(charge === 'again' && !recharge && !isInOutbox('recharge') ? [`${delivery_id}: not charged again`] : []),
    ...(charge !== 'again' && recharge ? [`${delivery_id}: charged again, and ${status}`] : []),
  ]
}

async function recheckDelivery(
  store: CountersignStore,
  company_id: string,
  [otp_id, delivery_id]: [string, string],
): Promise<string[]> {
  const otp = await getOne(store.docs('otps'), otp_id)
  const delivery = otp?.context.deliveries.find(one => one.delivery_id === delivery_id)
  if (!otp || !delivery) return []
  const company = await getOne(store.docs('companies'), company_id)
  const entry = { $in: [`hold:${delivery_id}`, `back:${delivery_id}`, `${delivery_id}:recharge`] }
  const entered = await store.docs('ledger').find({ company_id, entry }, { sort: { entry: 1 }, limit: 3 })
  const waiting = (company ? waitingItems(company) : []).filter(item => item.delivery_id === delivery_id)
  return deliveryProblems(otp, delivery, new Map([...waiting, ...entered].map(item => [item.entry, item])))
}
