// Past calls from what is stored of them. In: a verification or a refusal. Out: what a replay plays of it
// (machines/replay.ts), or why it cannot be judged. Recipients and client addresses are unsealed in memory only.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import { countedMessages } from '../../../machines/fraud.messages.ts'
import { lastEndAt } from '../../../machines/otp.ids.ts'
import { carriesCode } from '../../../machines/otp.queries.ts'
import type { Caller, Delivery, KeyKind, Otp } from '../../../machines/otp.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { Accepted, PastEvent, PastResend, PastResult, PastSend } from '../../../machines/replay.calls.ts'
import { type RefusalDoc, type RefusalType, refusedPerson } from '../../domain/refusals/documents.ts'
import { networksOf } from '../../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import { mailboxOf } from '../../domain/verifications/mailbox.ts'
import { parseRecipient } from '../../domain/verifications/valid-recipient.ts'

export interface ReadCallsDeps {
  keyring: Pick<Keyring, 'unseal'>
  /** False where nothing looks at the digits of a number and all indexes are of one data key: a number is then known by its index, because
   *  unsealing takes a third of the time of a trial. */
  readsNumbers: boolean
}

/** Why a stored call cannot be played. */
export type UnplayedReason = 'challenge' | 'refused_early' | 'not_recorded' | 'unreadable'

export interface PastCalls {
  events: PastEvent[]
  /** The reason for each call that is left out. */
  unplayed?: readonly UnplayedReason[]
}

const counterOf = (kind: KeyKind, mailbox: string) => ({ key: `sends:${kind}:${mailbox}` })

const addressOf = (address: string | null, abusive: boolean): PastSend['address'] =>
  address === null
    ? null
    : {
        networks: networksOf(address).map(({ network, limitFactor }) => ({ key: `ip:${network}`, limitFactor })),
        abusive,
      }

/** What a trial reads of a verification, so that MongoDB need not send the rest: decoding what is read takes a fifth of
 *  the time of a trial. */
const READ_OF_DOCUMENT = [
  'machine',
  'mode',
  'version',
  'value',
  'created_at',
  'claims',
] as const satisfies (keyof OtpDoc)[]
const READ_OF_FIRST = ['channel', 'sealed_action_url'] as const satisfies (keyof OtpDoc['first'])[]
const READ_OF_CONTEXT = [
  'recipient',
  'client_ip',
  'circumstances',
  'whatsapp',
  'sends',
  'wrong_codes',
  'joined',
  'approval',
  'expires_at',
  'failed_at',
  'ended_at',
] as const satisfies (keyof Otp)[]
const READ_OF_CALLER = ['kind'] as const satisfies (keyof Caller)[]
const READ_OF_DELIVERY = [
  'delivery_id',
  'channel',
  'generation',
  'status',
  'created_at',
  'updated_at',
  'micros',
  'reason',
  'charge',
  'asked_by',
  'asked_as',
  'hardest_challenge',
  'writer',
] as const satisfies (keyof Delivery)[]

type PastDelivery = Pick<Delivery, (typeof READ_OF_DELIVERY)[number]>
export type PastContext = Pick<Otp, (typeof READ_OF_CONTEXT)[number]> & {
  started_by: Pick<Caller, (typeof READ_OF_CALLER)[number]>
  deliveries: PastDelivery[]
}
export type PastOtp = Pick<OtpDoc, '_id' | (typeof READ_OF_DOCUMENT)[number]> & {
  first: Pick<OtpDoc['first'], (typeof READ_OF_FIRST)[number]>
  context: PastContext
}
export const READ_OF_OTP = [
  ...READ_OF_DOCUMENT,
  ...READ_OF_FIRST.map(member => `first.${member}` as const),
  ...READ_OF_CONTEXT.map(member => `context.${member}` as const),
  ...READ_OF_CALLER.map(member => `context.started_by.${member}` as const),
  ...READ_OF_DELIVERY.map(member => `context.deliveries.${member}` as const),
]

export function callsOfOtp({ keyring, readsNumbers }: ReadCallsDeps, doc: PastOtp): PastCalls {
  const { _id: id, machine, value: status, first, created_at: at } = doc
  const { context: otp } = toCurrentVersion(doc)
  const { recipient, client_ip, circumstances = {}, started_by } = otp
  const value =
    recipient.kind === 'phone' && !readsNumbers
      ? recipient.index
      : unsealOrNull(keyring, recipient.sealed, atRest.recipient(id))
  const address = client_ip === null ? null : unsealOrNull(keyring, client_ip, atRest.clientIp(id))
  if (value === null || (client_ip !== null && address === null)) return unplayed('unreadable')
  const startsOnLink = first.sealed_action_url !== null
  // Whether a user hides their number no setting changes, so what asks for it is not played.
  const messages = otp.deliveries.filter(carriesCode)
  const [firstMessage, later] = startsOnLink ? [undefined, messages] : [messages[0], messages.slice(1)]
  const mailbox = recipient.kind === 'phone' ? value : mailboxOf(value)
  const send: PastSend = {
    what: 'send',
    at,
    id,
    kind: started_by.kind,
    recipient: {
      kind: recipient.kind,
      country: recipient.country,
      ...(recipient.number_kind && { number_kind: recipient.number_kind }),
      masked: recipient.masked,
      mailbox,
    },
    counter: counterOf(started_by.kind, mailbox),
    address: addressOf(address, false),
    circumstances,
    isMessage: machine === 'message',
    whatsapp: otp.whatsapp,
    ...(status === 'canceled' && otp.ended_at === undefined && { isCanceled: true }),
    result: { channel: first.channel, ...(firstMessage === undefined ? { micros: null } : priceOf(firstMessage)) },
  }
  const resends = later.flatMap((delivery, nth): PastResend | [] => {
    const before = later[nth - 1] ?? firstMessage
    const by = askerOf(otp, delivery, before)
    if (by === null) return []
    return {
      what: 'resend',
      at: delivery.created_at,
      id: delivery.delivery_id,
      otp_id: id,
      by,
      ...(joinedBy(otp, delivery) && { joins: true as const }),
      ...(by === 'fallback' && before && { after: before.channel }),
      // A channel that the call names starts a new generation.
      requested: delivery.generation > (before?.generation ?? 1) ? delivery.channel : null,
      ...(delivery.hardest_challenge && { hardest_challenge: true }),
      result: resultOf(delivery),
    }
  })
  const corrections = messages.flatMap(delivery =>
    correctionsOf(delivery, delivery === firstMessage ? id : delivery.delivery_id, otp.approval),
  )
  return {
    events: [send, ...resends, ...corrections, ...endOf(id, otp)],
    unplayed: Array<UnplayedReason>(later.length - resends.length).fill('not_recorded'),
  }
}

/** A send that joined asked for it. */
const joinedBy = ({ joined = [] }: PastContext, { asked_as, created_at }: PastDelivery): boolean =>
  joined.some(({ otp_id, joined_at }) => otp_id === asked_as && joined_at === created_at)

/** Null for a resend of a release that did not record who asked for it. A fallback follows a message that failed. */
function askerOf(otp: PastContext, delivery: PastDelivery, before: PastDelivery | undefined): PastResend['by'] | null {
  if (delivery.asked_by !== undefined) return delivery.asked_by
  if (isAnswer(otp, delivery)) return 'answer'
  return before?.status === 'failed' ? 'fallback' : null
}

/** To a message of the user on the link. */
const isAnswer = ({ whatsapp }: PastContext, { channel, asked_by }: PastDelivery): boolean =>
  channel === 'whatsapp' && whatsapp !== 'template' && asked_by === undefined

/** How many of its sends made or repeated a link after the first one: these are no messages, so there is no record of them. */
export function unrecordedSends({ first, context: otp }: PastOtp): number {
  const sent = otp.deliveries.filter(({ reason }) => reason !== 'insufficient_funds')
  // The first answer on a link does not count as a send: the link has. Nor does the first request for a contact.
  const answered = new Set(
    sent.filter(delivery => isAnswer(otp, delivery)).map(one => `${one.generation} ${carriesCode(one)}`),
  )
  const recorded = sent.length - answered.size + (first.sealed_action_url === null ? 0 : 1)
  return Math.max(0, otp.sends - recorded)
}

/** A price that was kept was never given back. */
const refundOf = ({ status, micros, charge }: PastDelivery): Accepted['refund'] => {
  if (status !== 'failed' || micros === 0 || charge === 'kept') return undefined
  return charge === 'again' ? 'taken_back' : 'given'
}

function correctionsOf(delivery: PastDelivery, call_id: string, approval: Otp['approval']): PastEvent[] {
  const refund = refundOf(delivery)
  if (refund === undefined) return []
  const refunded: PastEvent = { what: 'refund', at: delivery.updated_at, call_id }
  return refund === 'given' || approval === null
    ? [refunded]
    : [refunded, { what: 'recharge', at: approval.at, call_id }]
}

function priceOf(delivery: PastDelivery): Pick<Accepted, 'micros' | 'refund'> {
  const refund = refundOf(delivery)
  return { micros: delivery.micros, ...(refund && { refund }) }
}

const resultOf = (delivery: PastDelivery): PastResult =>
  delivery.reason === 'insufficient_funds'
    ? { type: 'InsufficientFundsError', scope: null }
    : { channel: delivery.channel, ...priceOf(delivery) }

/** When a verification was canceled is known only where an endpoint asked to be told. */
function endOf(otp_id: string, otp: PastContext): PastEvent[] {
  const at = otp.approval?.at ?? lastEndAt(otp)
  const { approval } = otp
  if (at === undefined) return []
  const sent_at = countedMessages(otp).at(-1)?.created_at ?? null
  return [{ what: 'end', at, otp_id, approval: approval && { sent_at } }]
}

/** Refusals that no setting changes, or that name no recipient to judge. */
const NOT_BY_SETTINGS: ReadonlySet<RefusalType> = new Set([
  'HTTPException',
  'ValidationError',
  'InvalidIdempotencyKeyError',
  'OtpNotFoundError',
  'RecipientBlockedError',
  'ServiceUnavailableError',
])
/** A number of a kind that the app refuses is one. */
const isNoRecipient = ({ type, masked }: RefusalDoc): boolean => type === 'InvalidRecipientError' && masked === null
const REFUSED_EARLY: ReadonlySet<RefusalType> = new Set(['OriginNotAllowedError', 'PublishableSendDisabledError'])

export function callsOfRefusal({ keyring, readsNumbers }: ReadCallsDeps, refusal: RefusalDoc): PastCalls {
  const { _id: id, type, judged } = refusal
  if (NOT_BY_SETTINGS.has(type) || isNoRecipient(refusal)) return { events: [] }
  if (type === 'ChallengeRequiredError') return unplayed('challenge')
  if (judged === undefined) return unplayed(REFUSED_EARLY.has(type) ? 'refused_early' : 'not_recorded')
  const { call, kind, otp_id, channel, without_link, without_telegram, from_login, reputation } = judged
  const solved = judged.hardest_challenge && { hardest_challenge: true as const }
  const result = { type: type as ErrorType, scope: refusal.scope }
  if (otp_id !== undefined)
    return {
      events: [
        {
          what: 'resend',
          at: refusal.at,
          id,
          otp_id,
          by: kind,
          ...(call === 'send' && { joins: true as const }),
          requested: channel ?? null,
          ...solved,
          result,
        },
      ],
    }
  const person = refusedPerson(keyring, refusal)
  if (person === null) return unplayed('unreadable')
  const recipientKind = person.recipient.includes('@') ? 'email' : 'phone'
  const index = recipientKind === 'phone' && !readsNumbers ? refusal.recipient : undefined
  const mailbox = index ?? mailboxOf(person.recipient)
  const parsed = recipientKind === 'phone' ? parseRecipient(person.recipient) : null
  const number_kind = parsed?.kind === 'phone' ? parsed.numberKind : undefined
  return {
    events: [
      {
        what: 'send',
        at: refusal.at,
        id,
        kind,
        recipient: {
          kind: recipientKind,
          country: refusal.country,
          ...(number_kind && { number_kind }),
          masked: refusal.masked ?? '',
          mailbox,
        },
        counter: counterOf(kind, mailbox),
        address: addressOf(person.client_ip, reputation === 'abusive'),
        circumstances: {
          ...(channel && { channel }),
          ...(without_link && { without_link }),
          ...(without_telegram && { without_telegram }),
          ...(reputation === 'suspect' && { suspect: true as const }),
          ...(from_login && { from_login }),
          ...solved,
        },
        isMessage: call === 'message',
        result,
      },
    ],
  }
}

const unplayed = (reason: UnplayedReason): PastCalls => ({ events: [], unplayed: [reason] })
