// Rules that hold after every step of a verification. In: what was saved before, the command, the step. A broken rule fails the test by
// its name. The rules are plain comparisons and not chai expectations, because tens of thousands of steps are checked.
import { expect } from 'chai'
import { approvedId, idsOf, openIds, ownEnd, triesOf } from '../../machines/otp.ids.ts'
import { carriesCode } from '../../machines/otp.queries.ts'
import type { OtpCommand, Step } from '../../machines/otp.step.ts'
import type { Delivery, Effect, Otp } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'

type Rule = [name: string, holds: boolean]

export function expectInvariants(before: SavedOtp | null, command: OtpCommand, after: Step): void {
  const rules = [
    ...withinLimits(after.saved.context),
    ...onOneChannel(after.saved.context),
    ...replyFitsOutcome(before, command, after),
    ...effectsFitChange(before, after),
    ...(before ? forwardOnly(before, after.saved) : []),
    ...(before ? repeatsInTime(before, command, after) : []),
    ...(before ? lockSparesFirstGuess(before, command, after) : []),
  ]
  const broken = rules.filter(([, holds]) => !holds).map(([name]) => name)
  if (broken.length > 0) expect(broken, `${command.type} on ${before?.value ?? 'nothing'}`).to.deep.equal([])
}

const withinLimits = (otp: Otp): Rule[] => [
  [
    'wrong codes of each id stay within verify_attempts',
    idsOf(otp).every(id => triesOf(otp, id).wrong_codes <= otp.rules.verify_attempts),
  ],
  ['ids stay within send_attempts, so guesses stay within both', idsOf(otp).length <= otp.sends],
  ['ids are unique', new Set(idsOf(otp)).size === idsOf(otp).length],
  ['sends stay within send_attempts', otp.sends <= otp.rules.send_attempts],
  ['every message with a code that was paid for was counted as a send', codesPaid(otp) <= otp.sends],
  ['every request for a number but the first of a link was counted as a send', repeatedRequests(otp) < otp.sends],
  ['only a failed delivery has a reason', otp.deliveries.every(({ status, reason }) => !reason || status === 'failed')],
  ['a code lives at most three lifetimes', otp.expires_at <= otp.first_sent_at + 3 * otp.rules.ttl_ms],
  ['a code lives at most one lifetime after the last send', otp.expires_at <= otp.last_sent_at + otp.rules.ttl_ms],
]

const codesPaid = ({ deliveries }: Otp): number => deliveries.filter(one => isPaid(one) && carriesCode(one)).length

function repeatedRequests({ deliveries }: Otp): number {
  const requests = deliveries.filter(one => !carriesCode(one))
  return requests.length - new Set(requests.map(({ generation }) => generation)).size
}

const onOneChannel = (otp: Otp): Rule[] => [
  [
    'there is a link exactly in the link modes of WhatsApp',
    (otp.link !== null) === (otp.channel === 'whatsapp' && otp.whatsapp !== 'template'),
  ],
  ['the current channel is among those tried', otp.tried.includes(otp.channel)],
  ['a tried channel is listed once', new Set(otp.tried).size === otp.tried.length],
  ['delivery ids are unique', new Set(otp.deliveries.map(one => one.delivery_id)).size === otp.deliveries.length],
  ['no delivery has a later generation', otp.deliveries.every(one => one.generation <= otp.generation)],
]

const namedIn = (command: OtpCommand, otp: Otp): string => ('otp_id' in command && command.otp_id) || otp.otp_id

function replyFitsOutcome(
  before: SavedOtp | null,
  command: OtpCommand,
  { saved, reply, changed, effects, dueAt }: Step,
): Rule[] {
  const named = namedIn(command, saved.context)
  const refused = reply.kind === 'refused' || reply.kind === 'no_such_token'
  return [
    ['it is due at its expiry while pending', dueAt === (saved.value === 'pending' ? saved.context.expires_at : null)],
    ['an unchanged document is the same object', changed || saved === before],
    ['there is no effect without a change', changed || effects.length === 0],
    ['a refusal has no effect', !refused || effects.length === 0],
    ['the reply says whether it changed', reply.kind !== 'noted' || reply.changed === changed],
    [
      'the reply has the saved status',
      reply.kind !== 'verified' || reply.status === (ownEnd(saved.context, named) ?? saved.value),
    ],
    ['the reply matches when approved', reply.kind !== 'verified' || reply.matched === (saved.value === 'approved')],
    [
      'a code that matches has approved the id that it was entered for',
      reply.kind !== 'verified' || !reply.matched || approvedId(saved.context) === named,
    ],
    ['there is no token without a match', reply.kind !== 'verified' || !reply.token || reply.matched],
    ['only an approved one has an approval', (saved.value === 'approved') === (saved.context.approval !== null)],
    ['a failed one has no attempt left', saved.value !== 'failed' || attemptsSpent(saved.context, named)],
    ['a pending one has an open id', saved.value !== 'pending' || openIds(saved.context).length > 0],
    [
      'an open id of a pending one has an attempt left',
      saved.value !== 'pending' || openIds(saved.context).every(id => !attemptsSpent(saved.context, id)),
    ],
  ]
}

const REPEAT_MS = 60_000

/** A code that matches again does so for the key that approved, within a minute, before it expires and before the exchange. A command
 *  that is delivered again is not compared: it gets its stored reply. */
function repeatsInTime({ context, last_commands }: SavedOtp, command: OtpCommand, { reply }: Step): Rule[] {
  const { approval, exchange, expires_at } = context
  const isStored = last_commands.some(({ id }) => id === command.id)
  if (command.type !== 'otp.verify' || approval === null || isStored || reply.kind !== 'verified') return []
  return [
    ['only the key that approved may repeat', command.by.key_id === approval.by?.key_id],
    ['a repeat comes within a minute of the approval', command.at < approval.at + REPEAT_MS],
    ['a repeat comes before the code expires', command.at < expires_at],
    ['a repeat comes before the exchange', exchange === null],
  ]
}

/** The lock refuses a code only after another code was compared. */
function lockSparesFirstGuess({ value, context }: SavedOtp, command: OtpCommand, { reply }: Step): Rule[] {
  if (command.type !== 'otp.verify' || reply.kind !== 'refused' || reply.error !== 'RateLimitExceededError') return []
  return [['the lock refuses no first guess', value === 'approved' || triesOf(context, command.otp_id).wrong_codes > 0]]
}

const attemptsSpent = (otp: Otp, otp_id: string): boolean =>
  triesOf(otp, otp_id).wrong_codes === otp.rules.verify_attempts

/** The effects are exactly those that follow from the change of the data. */
function effectsFitChange(before: SavedOtp | null, { saved, effects }: Step): Rule[] {
  const earlier = before?.context.deliveries ?? []
  const added = saved.context.deliveries.slice(earlier.length)
  const expected = [
    ...added.filter(isPaid).map(deliverEffect),
    ...eventsOf(before, saved, earlier),
    ...refundsOf(saved, earlier),
    ...rechargesOf(saved, earlier),
  ]
  return [
    ['an added delivery is queued', added.filter(isPaid).every(({ status }) => status === 'queued')],
    ['an unpaid delivery has failed and costs nothing', added.every(one => isPaid(one) || hasFailedFree(one))],
    ['the effects follow from the change', expected.sort().join() === effects.map(nameOf).sort().join()],
  ]
}

const isPaid = ({ reason }: Delivery): boolean => reason !== 'insufficient_funds'
const hasFailedFree = ({ status, micros }: Delivery): boolean => status === 'failed' && micros === 0

const deliverEffect = ({ delivery_id, channel, generation }: Delivery): string =>
  ['deliver', delivery_id, channel, generation].join(' ')

const nameOf = (effect: Effect): string =>
  effect.type === 'deliver'
    ? ['deliver', effect.id, effect.channel, effect.generation].join(' ')
    : effect.type === 'refund' || effect.type === 'recharge'
      ? [effect.type, effect.delivery_id, effect.micros].join(' ')
      : [effect.event, ...Object.values(effect.payload)].join(' ')

/** Refunds of the paid deliveries that this step has marked as failed, without those whose price is kept. */
const refundsOf = ({ context }: SavedOtp, earlier: Delivery[]): string[] =>
  earlier.flatMap(({ status }, at) => {
    const { delivery_id, status: now, micros, charge } = context.deliveries[at] as Delivery
    const isRefunded = now === 'failed' && status !== 'failed' && micros > 0 && charge !== 'kept'
    return isRefunded ? [`refund ${delivery_id} ${micros}`] : []
  })

const rechargesOf = ({ context }: SavedOtp, earlier: Delivery[]): string[] =>
  earlier.flatMap(({ charge }, at) => {
    const { delivery_id, micros, charge: now } = context.deliveries[at] as Delivery
    return now === 'again' && charge !== 'again' ? [`recharge ${delivery_id} ${micros}`] : []
  })

function eventsOf(before: SavedOtp | null, { value, context }: SavedOtp, earlier: Delivery[]): string[] {
  const { otp_id, deliveries } = context
  const failedBefore = (id: string) => before !== null && triesOf(before.context, id).failed_at !== undefined
  const failed = idsOf(context).filter(id => triesOf(context, id).failed_at !== undefined && !failedBefore(id))
  const ended = [
    ...(before?.value !== value && value === 'approved' ? [`otp.approved ${approvedId(context)} approved`] : []),
    ...failed.map(id => `otp.failed ${id} failed`),
  ]
  const settled = deliveries.filter(
    (one, place) =>
      carriesCode(one) &&
      (one.status === 'delivered' || one.status === 'failed') &&
      earlier[place]?.status !== one.status,
  )
  const receipts = settled.map(
    ({ delivery_id, status, asked_as = otp_id }) => `delivery.${status} ${asked_as} ${delivery_id} ${status}`,
  )
  return [...ended, ...receipts]
}

const RANK = { queued: 0, sent: 1, delivered: 2, failed: 2 }

function forwardOnly({ value, context: old }: SavedOtp, after: SavedOtp): Rule[] {
  const now = after.context
  const ended = value !== 'pending'
  const atMostOneMore = (counter: 'sends' | 'generation') =>
    now[counter] === old[counter] || now[counter] === old[counter] + 1
  return [
    ['an ended verification keeps its state', !ended || after.value === value],
    ['an ended verification keeps its approval', !ended || now.approval === old.approval],
    ['an ended verification is not sent', !ended || (now.sends === old.sends && now.channel === old.channel)],
    [
      'wrong codes stay or grow by one, of one id',
      idsOf(old).reduce((sum, id) => sum + triesOf(now, id).wrong_codes - triesOf(old, id).wrong_codes, 0) <= 1 &&
        idsOf(old).every(id => triesOf(now, id).wrong_codes >= triesOf(old, id).wrong_codes),
    ],
    [
      'an id that has ended by itself stays so',
      idsOf(old).every(id => !ownEnd(old, id) || ownEnd(now, id) === ownEnd(old, id)),
    ],
    ['sends stay or grow by one', atMostOneMore('sends')],
    ['the generation stays or grows by one', atMostOneMore('generation')],
    ['a new generation costs a send', now.generation === old.generation || now.sends > old.sends],
    ['a token is exchanged once', old.exchange === null || now.exchange === old.exchange],
    [
      'a new generation drops or replaces the link',
      now.generation === old.generation || now.link === null || now.link !== old.link,
    ],
    ['why a delivery failed does not change', old.deliveries.every((one, at) => keepsReason(one, now.deliveries[at]))],
    ['delivery statuses only move forward', old.deliveries.every((one, place) => follows(one, now.deliveries[place]))],
  ]
}

const keepsReason = (old: Delivery, now: Delivery | undefined): boolean =>
  old.status !== 'failed' || (now?.reason === old.reason && now?.vendor_text === old.vendor_text)

const follows = (old: Delivery, now: Delivery | undefined): boolean =>
  now?.delivery_id === old.delivery_id && (now.status === old.status || RANK[now.status] > RANK[old.status])
