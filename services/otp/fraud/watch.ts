// Sees what becomes of text messages and counts it. In: every change of a verification. Out: what is known of a number's places.
// Of the same number once an hour is enough: else whoever verifies one of his own again and again passes for many.

import { type Block, EMPTY_BLOCK, type Neighbour } from '../../../machines/fraud.block.ts'
import type { Evidence } from '../../../machines/fraud.ts'
import type { Delivery } from '../../../machines/otp.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { bounded } from '../bounded.ts'
import type { FraudCounts } from './counts.ts'
import type { Places } from './places.ts'

const HOUR_MS = 3_600_000
const MOST = 20_000

export interface Watch {
  /** When a verification's first text message was sent. */
  sent(places: Places, app_id: string, at: number): void
  /** That it was verified; `at` is still when its message was sent. */
  verified(places: Places, app_id: string, at: number): void
  evidence(places: Places): Promise<Evidence>
}

const SHARED = 'shared'

export function watching(counts: Pick<FraudCounts, 'tallies' | 'blocks'>): Watch {
  const counted = bounded<number>(MOST)
  // The first number of a block is kept here: most blocks never see a second, and then no store hears of them.
  const lone = bounded<Neighbour | typeof SHARED>(MOST)

  function isNew(what: string, { number: { tag } }: Places, at: number): boolean {
    const key = what + tag
    const isLate = at - (counted.get(key) ?? Number.NEGATIVE_INFINITY) >= HOUR_MS
    if (isLate) counted.set(key, at)
    return isLate
  }

  function tally(what: 'sent' | 'verified', places: Places, app_id: string, at: number): void {
    if (!isNew(what, places, at)) return
    const news = { at, sent: what === 'sent' ? 1 : 0, verified: what === 'verified' ? 1 : 0 }
    for (const { key } of [places.country, places.range]) counts.tallies.add(key, app_id, news)
  }

  function sight({ block: key, number }: Places, app_id: string, at: number, verified: boolean): void {
    const known = lone.get(key)
    const sighting = { ...number, at, verified }
    if (known === undefined && !verified) lone.set(key, sighting)
    else if (known !== undefined && known !== SHARED && known.tag === number.tag)
      lone.set(key, { ...sighting, verified: verified || known.verified })
    else share(key, app_id, known, sighting)
  }

  function share(key: string, app_id: string, known: Neighbour | typeof SHARED | undefined, sighting: Neighbour): void {
    if (known !== undefined && known !== SHARED) counts.blocks.add(key, app_id, known)
    // One that is unknown here and verified was sent by another process.
    if (known !== undefined) lone.set(key, SHARED)
    counts.blocks.add(key, app_id, sighting)
  }

  async function blockOf(key: string): Promise<Block> {
    const known = lone.get(key)
    if (known === SHARED) return counts.blocks.state(key)
    return known === undefined ? EMPTY_BLOCK : { numbers: [known] }
  }

  return {
    sent(places, app_id, at) {
      tally('sent', places, app_id, at)
      sight(places, app_id, at, false)
    },
    verified(places, app_id, at) {
      tally('verified', places, app_id, at)
      sight(places, app_id, at, true)
    },
    async evidence({ country, range, block, number }) {
      const [ofCountry, ofRange, neighbours] = await Promise.all([
        counts.tallies.state(country.key),
        counts.tallies.state(range.key),
        blockOf(block),
      ])
      return {
        country: { name: country.name, tally: ofCountry },
        range: { name: range.name, tally: ofRange },
        ...{ block: neighbours, number },
      }
    },
  }
}

/** What a change says of text messages: when the first was sent, and whether this is the change that sent or proved it. */
export function newsIn(before: OtpDoc | null, after: OtpDoc): { at: number; sent: boolean; verified: boolean } | null {
  const first = after.context.deliveries.find(isText)
  if (!first) return null
  const sent = !before?.context.deliveries.some(isText)
  const verified = before?.value !== 'approved' && after.value === 'approved'
  return sent || verified ? { at: first.created_at, sent, verified } : null
}

const isText = ({ channel }: Delivery): boolean => channel === 'sms'
