// The changes of a verification: one pure function for each kind of change. In: the verification before, and what the change needs.
// Out: the verification after. The functions do not check whether a change is allowed: the guards do.
import type { Channel } from './channels.ts'
import { deliveryToRecharge, isPaid, keepsPrice } from './otp.charges.ts'
import { expiryAfterSend } from './otp.code-life.ts'
import { changeTries, triesOf } from './otp.ids.ts'
import { carriesCode, isMessage } from './otp.queries.ts'
import type {
  Caller,
  Delivery,
  DeliveryStatus,
  JoinedId,
  KeyKind,
  Link,
  Otp,
  OtpStart,
  Prices,
  ReportDetails,
  Rules,
} from './otp.ts'
import type { AppSettings } from './settings.ts'

/** In the link modes of WhatsApp the user writes first, so no message is sent. */
export const waitsOnLink = (otp: Pick<Otp, 'whatsapp'>, channel: Channel): boolean =>
  channel === 'whatsapp' && otp.whatsapp !== 'template'

function requireLink(link: Link | null): Link {
  if (link === null) throw new Error('a link mode needs a link')
  return link
}

/** The rules of a verification, from the settings that its app has when it starts. */
export const rulesFrom = (settings: AppSettings): Rules => ({
  ttl_ms: settings.code.ttl_seconds * 1000,
  verify_attempts: settings.verify_attempts,
  send_attempts: settings.send_attempts,
  cooldowns_ms: settings.resend_cooldown_seconds.map(seconds => seconds * 1000),
  token_ttl_ms: settings.token_ttl_seconds * 1000,
  auto_fallback: settings.auto_fallback,
})

/** Every member is named: the start comes inside a command, and copying it with a rest pattern took half the time of a send. */
export function newOtp(start: OtpStart): Otp {
  const { at, channel } = start
  const onLink = waitsOnLink(start, channel)
  const otp: Otp = {
    otp_id: start.otp_id,
    company_id: start.company_id,
    app_id: start.app_id,
    mode: start.mode,
    started_by: start.started_by,
    recipient: start.recipient,
    client_ip: start.client_ip,
    locale: start.locale,
    code: start.code,
    rules: start.rules,
    order: start.order,
    whatsapp: start.whatsapp,
    channel,
    tried: [channel],
    generation: 1,
    link: onLink ? requireLink(start.link) : null,
    sends: 1,
    wrong_codes: 0,
    first_sent_at: at,
    last_sent_at: at,
    expires_at: expiryAfterSend(start.rules.ttl_ms, at, at),
    deliveries: onLink ? [] : [newDelivery(start.delivery_id, channel, 1, at, start.prices[channel])],
    approval: null,
    exchange: null,
  }
  if (start.circumstances !== undefined) otp.circumstances = start.circumstances
  if (start.text !== undefined) otp.text = start.text
  return start.unlearned ? leaveUnlearned(otp) : otp
}

/** One message that the guard suspects is enough. */
export const leaveUnlearned = (otp: Otp): Otp => (otp.unlearned ? otp : { ...otp, unlearned: true })

/** A resend uses up one send, and starts the code's lifetime and the cooldown again. How long the code of a message is valid is up to its
 *  caller, so its lifetime stays. */
export const countSend = (otp: Otp, at: number): Otp => ({
  ...otp,
  sends: otp.sends + 1,
  last_sent_at: at,
  expires_at: isMessage(otp) ? otp.expires_at : expiryAfterSend(otp.rules.ttl_ms, otp.first_sent_at, at),
})

/** A message that has ended is not sent again. */
export const eraseGivenCode = (otp: Otp): Otp => ({ ...otp, code: { ...otp.code, given: null } })

export interface ChannelMove {
  channel: Channel
  newGeneration: boolean
  new_delivery_id: string
  link: Link | null
  prices: Prices
  at: number
  by?: KeyKind
  /** The id that asks for it. */
  otp_id?: string
}

/** A later send joins the verification under an id of its own. */
export const join = (otp: Otp, otp_id: string, joins: Pick<JoinedId, 'by' | 'metadata' | 'text'>, at: number): Otp => ({
  ...otp,
  joined: [...(otp.joined ?? []), { otp_id, joined_at: at, wrong_codes: 0, ...joins }],
})

/** Nothing for the first id, so that a verification that nothing joined has no trace of ids. */
const askedAs = (otp: Otp, otp_id = otp.otp_id): { asked_as?: string } =>
  otp_id === otp.otp_id ? {} : { asked_as: otp_id }

export function moveChannel(otp: Otp, move: ChannelMove): Otp {
  const { channel, newGeneration, new_delivery_id, link, prices, at, by, otp_id } = move
  const generation = newGeneration ? otp.generation + 1 : otp.generation
  const onLink = waitsOnLink(otp, channel)
  const delivery = {
    ...newDelivery(new_delivery_id, channel, generation, at, prices[channel]),
    ...askedAs(otp, otp_id),
  }
  return {
    ...countSend(otp, at),
    channel,
    generation,
    tried: otp.tried.includes(channel) ? otp.tried : [...otp.tried, channel],
    link: onLink ? { ...requireLink(link), ...askedAs(otp, otp_id) } : null,
    deliveries: onLink
      ? otp.deliveries
      : [...otp.deliveries, by === undefined ? delivery : { ...delivery, asked_by: by }],
  }
}

/** Marks the message that was just added. */
export const markHardestChallenge = (otp: Otp): Otp => ({
  ...otp,
  deliveries: otp.deliveries.map((delivery, nth) =>
    nth === otp.deliveries.length - 1 ? { ...delivery, hardest_challenge: true } : delivery,
  ),
})

/** Answers the user's message on a `link_code` link with the code. Making the link has already counted as a send, so the first answer
 *  does not count; each repeated answer does. */
export const addAnswer = (otp: Otp, new_delivery_id: string, at: number, prices: Prices): Otp => ({
  ...otp,
  sends: hasAnswer(otp) ? otp.sends + 1 : otp.sends,
  deliveries: [
    ...otp.deliveries,
    {
      ...newDelivery(new_delivery_id, otp.channel, otp.generation, at, prices.reply),
      ...askedAs(otp, otp.link?.asked_as),
    },
  ],
})

/** Asks a user who hides their number for it. Like answers: the first request does not count as a send, each repeated one does. */
export const addContactRequest = (
  otp: Otp,
  new_delivery_id: string,
  at: number,
  prices: Prices,
  writer: string,
): Otp => ({
  ...otp,
  sends: hasContactRequest(otp) ? otp.sends + 1 : otp.sends,
  deliveries: [
    ...otp.deliveries,
    { ...newDelivery(new_delivery_id, otp.channel, otp.generation, at, prices.reply), writer },
  ],
})

/** Records a fallback or an answer that could not be paid. Nothing is sent, so it does not count as a send, and the channel stays. */
export const addUnpaid = (
  otp: Otp,
  { new_delivery_id, channel, at, otp_id }: Pick<ChannelMove, 'new_delivery_id' | 'channel' | 'at' | 'otp_id'>,
): Otp => ({
  ...otp,
  deliveries: [
    ...otp.deliveries,
    {
      ...newDelivery(new_delivery_id, channel, otp.generation, at),
      ...askedAs(otp, otp_id),
      status: 'failed',
      reason: 'insufficient_funds',
    },
  ],
})

const isUnpaid = ({ reason }: Delivery): boolean => reason === 'insufficient_funds'

const answersOf = (otp: Otp): Delivery[] =>
  otp.deliveries.filter(
    delivery => delivery.generation === otp.generation && delivery.channel === 'whatsapp' && carriesCode(delivery),
  )

/** An answer that could not be paid was not sent. */
export const hasAnswer = (otp: Otp): boolean => answersOf(otp).some(answer => !isUnpaid(answer))

export const hasContactRequest = (otp: Otp): boolean =>
  otp.deliveries.some(delivery => delivery.generation === otp.generation && !carriesCode(delivery))

/** One record is enough: the user may write any number of messages. */
export const hasUnpaidAnswer = (otp: Otp): boolean => answersOf(otp).some(isUnpaid)

export function countWrongCode(otp: Otp, at: number, otp_id?: string): Otp {
  const { wrong_codes } = triesOf(otp, otp_id)
  return changeTries(otp, otp_id, {
    wrong_codes: wrong_codes + 1,
    ...(wrong_codes === 0 ? { first_wrong_at: at } : {}),
  })
}

export const fail = (otp: Otp, at: number, otp_id?: string): Otp =>
  changeTries(countWrongCode(otp, at, otp_id), otp_id, { failed_at: at })

/** Remembers of ids when they ended, if an endpoint asks to be told: then the sweeper can tell that their events are
 *  owed. Where others could go on, those that were canceled are marked. */
export function end(
  otp: Otp,
  ids: readonly string[],
  at: number,
  why: { canceled: boolean; isAskedFor: boolean },
): Otp {
  const canceled = why.canceled && otp.joined !== undefined
  if (!canceled && !why.isAskedFor) return otp
  const change = { ...(canceled ? { canceled } : {}), ...(why.isAskedFor ? { ended_at: at } : {}) }
  return ids.reduce((ended, id) => changeTries(ended, id, change), otp)
}

export const approveByMessage = (otp: Otp, at: number): Otp =>
  withApproval(otp, null, otp.channel, at, otp.link?.asked_as)

/** The user who enters the code has received it, even if the provider reported a failure. So one message with that code is paid. */
export function approveByCode(otp: Otp, by: Caller, at: number, otp_id?: string): Otp {
  const again = deliveryToRecharge(otp)
  const approved = withApproval(otp, by, channelOfCode(otp, again), at, otp_id)
  if (again === undefined) return approved
  const deliveries = otp.deliveries.map(one => (one === again ? { ...one, charge: 'again' as const } : one))
  return { ...approved, deliveries }
}

const withApproval = (otp: Otp, by: Caller | null, channel: Channel, at: number, otp_id = otp.otp_id): Otp => ({
  ...otp,
  approval: { at, by, generation: otp.generation, channel, ...(otp_id === otp.otp_id ? {} : { otp_id }) },
})

/** The channel on which the code arrived, as far as it is known: where the latest message failed, an earlier one with the same code brought
 *  it, or the one that is charged again. */
function channelOfCode({ channel, deliveries, generation }: Otp, again: Delivery | undefined): Channel {
  const current = deliveries.filter(one => one.generation === generation && carriesCode(one))
  if (current.at(-1)?.status !== 'failed') return channel
  const latest = (status: DeliveryStatus) => current.findLast(one => one.status === status)
  const arrivedLate = current.findLast(({ late_receipt_at }) => late_receipt_at !== undefined)
  return (latest('delivered') ?? arrivedLate ?? latest('sent') ?? again)?.channel ?? channel
}

export const recordExchange = (otp: Otp, key_id: string, at: number): Otp => ({ ...otp, exchange: { key_id, at } })

export interface StatusReport extends ReportDetails {
  delivery_id: string
  status: DeliveryStatus
  at: number
}

export const recordReport = (otp: Otp, report: StatusReport): Otp => ({
  ...otp,
  deliveries: otp.deliveries.map(delivery =>
    delivery.delivery_id === report.delivery_id ? withCharge(otp, delivery, report) : delivery,
  ),
})

/** The delivery had failed. */
export const recordLateReceipt = (otp: Otp, { delivery_id, at }: Pick<StatusReport, 'delivery_id' | 'at'>): Otp => ({
  ...otp,
  deliveries: otp.deliveries.map(delivery => {
    if (delivery.delivery_id !== delivery_id) return delivery
    const late: Delivery = { ...delivery, late_receipt_at: at }
    return isPaid(delivery) || delivery.micros === 0 ? late : { ...late, charge: 'again' }
  }),
})

/** What a provider may have got stays paid when its verification has ended: otherwise a caller who cancels while a
 *  provider is called could send for nothing. */
function withCharge(otp: Otp, before: Delivery, report: StatusReport): Delivery {
  const after = withReport(before, report)
  if (after.status !== 'failed') return after
  const mayHaveGone = report.may_have_gone === true && before.micros > 0
  return mayHaveGone || keepsPrice(otp, before, after) ? { ...after, charge: 'kept' } : after
}

function withReport(
  delivery: Delivery,
  { status, at, provider, reason, vendor_code, vendor_text, because }: StatusReport,
): Delivery {
  const after: Delivery = { ...delivery, status, updated_at: at }
  if (provider !== undefined) after.provider = provider
  if (because !== undefined) after.because = because
  if (status !== 'failed') return after
  if (reason !== undefined) after.reason = reason
  if (vendor_code !== undefined) after.vendor_code = vendor_code
  if (vendor_text !== undefined) after.vendor_text = vendor_text
  return after
}

/** Receipts come late, twice and out of order, so a status only moves forward; `delivered` and `failed` are final. */
export const isProgress = (delivery: Delivery | undefined, status: DeliveryStatus): boolean =>
  delivery?.status === 'queued' || (delivery?.status === 'sent' && status !== 'sent')

const newDelivery = (delivery_id: string, channel: Channel, generation: number, at: number, micros = 0): Delivery => ({
  delivery_id,
  channel,
  generation,
  status: 'queued',
  created_at: at,
  updated_at: at,
  micros,
})
