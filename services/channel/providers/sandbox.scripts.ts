// Which receipts the sandbox plays for a message. In: the recipient. Out: receipts in order, each with its delay. Pure.

import type { Channel } from '../../../machines/channels.ts'
import { magicOf, type SandboxScenario } from '../../../machines/magic-recipients.ts'
import type { Delivery, Mode, Otp, ReportDetails, ReportedStatus } from '../../../machines/otp.ts'

export interface Receipt {
  afterMs: number
  status: ReportedStatus
}

export interface Script {
  /** A receipt that arrives before the provider has answered the call. */
  early: ReportedStatus | null
  /** In the order of their delays. */
  receipts: readonly Receipt[]
}

/** Long enough to see `sent` before `delivered`, short enough to hold the broker's message until then. */
const RECEIPT_DELAY_MS = 100
const LATE_RECEIPT_DELAY_MS = 30_000

const delivered = (afterMs: number): Receipt => ({ afterMs, status: 'delivered' })
const failed = (afterMs: number): Receipt => ({ afterMs, status: 'failed' })
const script = (...receipts: Receipt[]): Script => ({ early: null, receipts })

const SCRIPTS: Readonly<Record<Exclude<SandboxScenario, 'fallback'>, Script>> = {
  delivered: script(delivered(RECEIPT_DELAY_MS)),
  failed: script(failed(RECEIPT_DELAY_MS)),
  late: script(delivered(LATE_RECEIPT_DELAY_MS)),
  twice: script(delivered(RECEIPT_DELAY_MS), delivered(2 * RECEIPT_DELAY_MS)),
  disorder: { early: 'delivered', receipts: [failed(RECEIPT_DELAY_MS)] },
  silent: script(),
}

/** What the vendors of each channel say of a recipient that cannot be reached, so that a developer sees how a failure looks. */
const FAILURES: Readonly<Record<Channel, ReportDetails>> = {
  sms: { reason: 'recipient_unreachable', vendor_code: '30005', vendor_text: 'Unknown destination handset' },
  whatsapp: { reason: 'recipient_unreachable', vendor_code: '131026', vendor_text: 'Message undeliverable' },
  telegram: { reason: 'recipient_unreachable', vendor_code: 'expired' },
  email: { reason: 'recipient_unreachable', vendor_code: '550 5.1.1', vendor_text: 'No such user here' },
}

export const receiptDetails = (status: ReportedStatus, { channel }: Pick<Delivery, 'channel'>): ReportDetails =>
  status === 'failed' ? FAILURES[channel] : {}

export function scriptFor(recipient: string, otp: Pick<Otp, 'mode' | 'deliveries'>, { channel }: Delivery): Script {
  const scenario = scenarioOf(recipient, otp.mode)
  if (scenario !== 'fallback') return SCRIPTS[scenario]
  return SCRIPTS[otp.deliveries[0]?.channel === channel ? 'failed' : 'delivered']
}

/** A magic recipient whose send is refused has no delivery, so it never gets here. */
function scenarioOf(recipient: string, mode: Mode): SandboxScenario {
  const magic = magicOf(mode, recipient)
  return magic !== null && 'scenario' in magic ? magic.scenario : 'delivered'
}
