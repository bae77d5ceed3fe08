// What the sandbox plays for a message: which receipts come, in which order, how long after it was sent. Pure.
import { magicOf, type Play } from '../../../machines/magic.ts'
import type { Delivery, Mode, Otp, Report } from '../../../machines/otp.ts'

export interface Receipt {
  afterMs: number
  status: Report
}

export interface Script {
  /** Overtakes the provider's own answer: we hear of it before we know the message was taken. */
  early: Report | null
  /** By time. */
  receipts: readonly Receipt[]
}

/** Long enough to see `sent` before `delivered`, short enough to hold the broker's message meanwhile. */
const SOON_MS = 100
const LATE_MS = 30_000

const delivered = (afterMs: number): Receipt => ({ afterMs, status: 'delivered' })
const failed = (afterMs: number): Receipt => ({ afterMs, status: 'failed' })
const script = (...receipts: Receipt[]): Script => ({ early: null, receipts })

const SCRIPTS: Readonly<Record<Exclude<Play, 'fallback'>, Script>> = {
  delivered: script(delivered(SOON_MS)),
  failed: script(failed(SOON_MS)),
  late: script(delivered(LATE_MS)),
  twice: script(delivered(SOON_MS), delivered(2 * SOON_MS)),
  disorder: { early: 'delivered', receipts: [failed(SOON_MS)] },
  silent: script(),
}

export function scriptFor(recipient: string, otp: Pick<Otp, 'mode' | 'deliveries'>, { channel }: Delivery): Script {
  const play = playOf(recipient, otp.mode)
  if (play !== 'fallback') return SCRIPTS[play]
  return SCRIPTS[otp.deliveries[0]?.channel === channel ? 'failed' : 'delivered']
}

/** One whose fate is a refusal never gets here. */
function playOf(recipient: string, mode: Mode): Play {
  const fate = magicOf(mode, recipient)
  return fate !== null && 'plays' in fate ? fate.plays : 'delivered'
}
