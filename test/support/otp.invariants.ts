// What holds after every step, whatever the command was. In: what was saved before, the command, the outcome. Out: the rules that are
// broken, by name. Plain comparisons: tens of thousands of steps are checked.
import { expect } from 'chai'
import type { OtpCommand, Step } from '../../machines/otp.step.ts'
import type { Delivery, Effect, Otp } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'

type Rule = [name: string, holds: boolean]

export function expectInvariants(before: SavedOtp | null, command: OtpCommand, after: Step): void {
  const rules = [
    ...withinLimits(after.saved.context),
    ...onOneChannel(after.saved.context),
    ...replyFitsOutcome(before, after),
    ...effectsFitChange(before, after),
    ...(before ? forwardOnly(before, after.saved) : []),
  ]
  const broken = rules.filter(([, holds]) => !holds).map(([name]) => name)
  if (broken.length > 0) expect(broken, `${command.type} on ${before?.value ?? 'nothing'}`).to.deep.equal([])
}

const withinLimits = (otp: Otp): Rule[] => [
  ['guesses stay within the attempts', otp.wrong_codes <= otp.rules.verify_attempts],
  ['sends stay within the attempts', otp.sends <= otp.rules.send_attempts],
  ['nothing is delivered that was not counted', otp.deliveries.length <= otp.sends],
  ['no code outlives three lifetimes', otp.expires_at <= otp.first_sent_at + 3 * otp.rules.ttl_ms],
  ['no code outlives its last send by more than one', otp.expires_at <= otp.last_sent_at + otp.rules.ttl_ms],
]

const onOneChannel = (otp: Otp): Rule[] => [
  [
    'a link just where one is needed',
    (otp.link !== null) === (otp.channel === 'whatsapp' && otp.whatsapp !== 'template'),
  ],
  ['the channel was tried', otp.tried.includes(otp.channel)],
  ['a channel is tried once', new Set(otp.tried).size === otp.tried.length],
  ['deliveries differ', new Set(otp.deliveries.map(one => one.delivery_id)).size === otp.deliveries.length],
  ['no delivery is of a generation to come', otp.deliveries.every(one => one.generation <= otp.generation)],
]

/** The reply and the outcome say what happened. */
function replyFitsOutcome(before: SavedOtp | null, { saved, reply, changed, effects, dueAt }: Step): Rule[] {
  const refused = reply.kind === 'refused' || reply.kind === 'no_such_token'
  return [
    ['due while pending', dueAt === (saved.value === 'pending' ? saved.context.expires_at : null)],
    ['the same document when unchanged', changed || saved === before],
    ['no effect without a change', changed || effects.length === 0],
    ['no effect of what was refused', !refused || effects.length === 0],
    ['noted as changed when it was', reply.kind !== 'noted' || reply.changed === changed],
    ['verified with the status it has', reply.kind !== 'verified' || reply.status === saved.value],
    ['matched when approved', reply.kind !== 'verified' || reply.matched === (saved.value === 'approved')],
    ['no token without a match', reply.kind !== 'verified' || !reply.token || reply.matched],
    ['approved with an approval, and only then', (saved.value === 'approved') === (saved.context.approval !== null)],
    ['failed with no attempt left', saved.value !== 'failed' || attemptsSpent(saved.context)],
    ['pending with an attempt left', saved.value !== 'pending' || !attemptsSpent(saved.context)],
  ]
}

const attemptsSpent = (otp: Otp): boolean => otp.wrong_codes === otp.rules.verify_attempts

/** Effects are exactly what the change of the data calls for: nothing is announced or sent that did not happen. */
function effectsFitChange(before: SavedOtp | null, { saved, effects }: Step): Rule[] {
  const earlier = before?.context.deliveries ?? []
  const added = saved.context.deliveries.slice(earlier.length)
  const wanted = [...added.map(deliverEffect), ...eventsOf(before, saved, earlier), ...refundsOf(saved, earlier)]
  return [
    ['what is added is queued', added.every(({ status }) => status === 'queued')],
    ['effects for just what changed', wanted.sort().join() === effects.map(nameOf).sort().join()],
  ]
}

const deliverEffect = ({ delivery_id, channel, generation }: Delivery): string =>
  ['deliver', delivery_id, channel, generation].join(' ')

const nameOf = (effect: Effect): string =>
  effect.type === 'deliver'
    ? ['deliver', effect.id, effect.channel, effect.generation].join(' ')
    : effect.type === 'refund'
      ? ['refund', effect.delivery_id, effect.micros].join(' ')
      : [effect.event, ...Object.values(effect.payload)].join(' ')

/** What failed just now and was paid for. */
const refundsOf = ({ context }: SavedOtp, earlier: Delivery[]): string[] =>
  earlier.flatMap(({ status }, at) => {
    const { delivery_id, status: now, micros } = context.deliveries[at] as Delivery
    return now === 'failed' && status !== 'failed' && micros > 0 ? [`refund ${delivery_id} ${micros}`] : []
  })

function eventsOf(before: SavedOtp | null, { value, context }: SavedOtp, earlier: Delivery[]): string[] {
  const { otp_id, deliveries } = context
  const ended = before?.value !== value && (value === 'approved' || value === 'failed')
  const settled = deliveries.filter(
    ({ status }, place) => (status === 'delivered' || status === 'failed') && earlier[place]?.status !== status,
  )
  const receipts = settled.map(({ delivery_id, status }) => `delivery.${status} ${otp_id} ${delivery_id} ${status}`)
  return ended ? [`otp.${value} ${otp_id} ${value}`, ...receipts] : receipts
}

const RANK = { queued: 0, sent: 1, delivered: 2, failed: 2 }

function forwardOnly({ value, context: old }: SavedOtp, after: SavedOtp): Rule[] {
  const now = after.context
  const ended = value !== 'pending'
  const atMostOneMore = (counter: 'wrong_codes' | 'sends' | 'generation') =>
    now[counter] === old[counter] || now[counter] === old[counter] + 1
  return [
    ['an end is an end', !ended || after.value === value],
    ['nothing is approved twice', !ended || now.approval === old.approval],
    ['nothing is sent after the end', !ended || (now.sends === old.sends && now.channel === old.channel)],
    ['one guess at a time, none given back', atMostOneMore('wrong_codes')],
    ['one send at a time, none given back', atMostOneMore('sends')],
    ['one generation at a time', atMostOneMore('generation')],
    ['a fresh generation costs a send', now.generation === old.generation || now.sends > old.sends],
    ['a token is exchanged once', old.exchange === null || now.exchange === old.exchange],
    [
      'a link dies with its generation',
      now.generation === old.generation || now.link === null || now.link !== old.link,
    ],
    ['receipts only go forward', old.deliveries.every((one, place) => follows(one, now.deliveries[place]))],
  ]
}

const follows = (old: Delivery, now: Delivery | undefined): boolean =>
  now?.delivery_id === old.delivery_id && (now.status === old.status || RANK[now.status] > RANK[old.status])
