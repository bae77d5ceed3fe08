// Counts of routes in the plain way, for comparison with the product's. In: verifications as they are stored. Out: for
// each route its messages, delivered (in slots, tried) and approved, as `server sms GB main: 3 2 1`, sorted. Nothing of
// the product's counting is used.
import type { Delivery } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { decodeSlots } from '../../services/domain/routes/slots.ts'
import { countOf, decodeCells } from '../../services/domain/stats/counts.ts'

const FOUR_HOURS_MS = 4 * 3_600_000
/** A request for the contact carries no code, so no route earns by it. */
const isAccepted = ({ status, provider, writer }: Delivery): boolean =>
  provider !== undefined && status !== 'queued' && writer === undefined

export const expectedRoutes = (otps: readonly SavedOtp[], startOf: (otp: SavedOtp) => number): string[] =>
  expectedCounts(otps, (own, otp) =>
    own.some(({ status, updated_at }) => status === 'delivered' && updated_at < startOf(otp) + FOUR_HOURS_MS),
  )

/** The first wrong code, by any of its ids, was entered after the last message until then, the right one after the one that earned it. */
export const expectedSlots = (otps: readonly SavedOtp[]): string[] =>
  expectedCounts(otps, (own, otp, isEarner) => {
    const { deliveries, first_wrong_at, joined = [] } = otp.context
    const firstAt = Math.min(...[first_wrong_at, ...joined.map(one => one.first_wrong_at)].map(at => at ?? Infinity))
    if (firstAt === Infinity) return isEarner
    const last = deliveries.filter(one => isAccepted(one) && one.created_at <= firstAt).at(-1)
    return isEarner || (last !== undefined && own.includes(last))
  })

function expectedCounts(
  otps: readonly SavedOtp[],
  isCounted: (own: readonly Delivery[], otp: SavedOtp, isEarner: boolean) => boolean,
): string[] {
  const sums = new Map<string, [number, number, number]>()
  for (const otp of otps) {
    const { context, value } = otp
    if (context.mode !== 'live' || context.unlearned) continue
    const accepted = context.deliveries.filter(isAccepted)
    const { approval } = context
    const rightOnes = accepted.filter(
      ({ generation, created_at }) => approval?.by && generation === approval.generation && created_at <= approval.at,
    )
    const earner = value === 'approved' ? rightOnes.at(-1) : undefined
    for (const provider of new Set(accepted.map(one => one.provider)))
      for (const channel of new Set(accepted.filter(one => one.provider === provider).map(one => one.channel))) {
        const own = accepted.filter(one => one.provider === provider && one.channel === channel)
        const name = `${context.started_by.kind} ${channel} ${context.recipient.country ?? '?'} ${provider}`
        const [messages, counted, approved] = sums.get(name) ?? [0, 0, 0]
        const isEarner = earner !== undefined && own.includes(earner)
        sums.set(name, [messages + 1, counted + (isCounted(own, otp, isEarner) ? 1 : 0), approved + (isEarner ? 1 : 0)])
      }
  }
  return [...sums].map(([name, counts]) => `${name}: ${counts.join(' ')}`).sort()
}

export const routesIn = (stored: string): string[] =>
  [...decodeCells(stored)]
    .map(
      ([name, cell]) => `${name}: ${countOf(cell, 'sent')} ${countOf(cell, 'delivered')} ${countOf(cell, 'approved')}`,
    )
    .sort()

/** The sums over all slots. */
export const routesInSlots = (stored: string): string[] =>
  [...decodeSlots(stored, 0)]
    .map(([name, slots]) => {
      const sum = (count: 'messages' | 'tried' | 'approved') =>
        [...slots.values()].reduce((all, one) => all + one[count], 0)
      return `${name}: ${sum('messages')} ${sum('tried')} ${sum('approved')}`
    })
    .sort()
