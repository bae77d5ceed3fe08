// The ids that stand for one verification. Its first send gave it one. While it is pending, a later send for the
// recipient may join it (`reuse_pending`): that send gets an id of its own, whose holder has the code and the messages
// in common with the others. Each id has guesses of its own, ends by itself, and alone earns the approval that its
// holder's code makes. In: a verification and an id. Out: what is that id's alone.
import { statusAt } from './otp.code-life.ts'
import type { Delivery, Link, Otp, OtpEvent, OtpStatus, OwnTries, Reply, SavedStatus } from './otp.ts'

/** A verification that nothing has joined has one. */
export const idsOf = ({ otp_id, joined = [] }: Pick<Otp, 'otp_id' | 'joined'>): string[] => [
  otp_id,
  ...joined.map(one => one.otp_id),
]

/** The first id has its tries in the verification itself. */
export const triesOf = (otp: Otp, otp_id = otp.otp_id): OwnTries =>
  otp.joined?.find(one => one.otp_id === otp_id) ?? otp

export const changeTries = (otp: Otp, otp_id = otp.otp_id, change: Partial<OwnTries>): Otp =>
  otp.joined?.some(one => one.otp_id === otp_id)
    ? { ...otp, joined: otp.joined.map(one => (one.otp_id === otp_id ? { ...one, ...change } : one)) }
    : { ...otp, ...change }

/** Null while it is not approved. */
export const approvedId = ({ otp_id, approval }: Otp): string | null =>
  approval === null ? null : (approval.otp_id ?? otp_id)

/** How an id ended while the verification went on, or because another id was approved; null for an id that shares the end of the
 *  verification. */
export function ownEnd(otp: Otp, otp_id = otp.otp_id): 'failed' | 'canceled' | null {
  const { failed_at, canceled } = triesOf(otp, otp_id)
  if (failed_at !== undefined) return 'failed'
  const approved = approvedId(otp)
  return canceled || (approved !== null && approved !== otp_id) ? 'canceled' : null
}

/** The answer to a caller whose id has ended while its verification went on, or because another id was approved; null
 *  where the verification answers. A send that joins names an id that is new, and a cancel of all ids names none. */
export function replyOfEndedId(otp: Otp, event: OtpEvent): Reply | null {
  if (otp.joined === undefined) return null
  switch (event.type) {
    case 'otp.resend': {
      const otp_status = event.joins ? null : ownEnd(otp, event.otp_id)
      return otp_status && { kind: 'refused', error: 'ResendNotAllowedError', cause: 'not_pending', otp_status }
    }
    case 'otp.verify': {
      const otp_status = ownEnd(otp, event.otp_id)
      return otp_status && { kind: 'refused', error: 'OtpNotPendingError', otp_status }
    }
    case 'otp.cancel': {
      const otp_status = event.all ? null : ownEnd(otp, event.otp_id)
      if (otp_status === 'canceled') return { kind: 'accepted' }
      return otp_status && { kind: 'refused', error: 'OtpNotPendingError', otp_status }
    }
    default:
      return null
  }
}

/** The status that the holder of an id sees. */
export const statusOf = (value: SavedStatus, otp: Otp, at: number, otp_id = otp.otp_id): OtpStatus =>
  // The cast is safe: only a message is `delivered`, and it has one id.
  (ownEnd(otp, otp_id) ?? statusAt(value, otp, at)) as OtpStatus

/** Those that have not ended by themselves. */
export const openIds = (otp: Otp): string[] => idsOf(otp).filter(id => ownEnd(otp, id) === null)

/** Whether the end of this id leaves the verification to another one. */
export const isLeftToOthers = (otp: Otp, otp_id = otp.otp_id): boolean => openIds(otp).some(id => id !== otp_id)

/** The id that is told of a message, or of the approval on a link: the one whose send or resend asked for it. */
export const idOf = (otp: Otp, { asked_as }: Pick<Delivery, 'asked_as'> | Pick<Link, 'asked_as'>): string =>
  asked_as ?? otp.otp_id

/** When the last id failed, or was canceled at a time that is on record; undefined where no end is. */
export function lastEndAt({
  failed_at,
  ended_at,
  joined = [],
}: Pick<Otp, 'failed_at' | 'ended_at' | 'joined'>): number | undefined {
  const times = [{ failed_at, ended_at }, ...joined].flatMap(one => one.failed_at ?? one.ended_at ?? [])
  return times.length === 0 ? undefined : Math.max(...times)
}

/** The wrong codes under all ids together. */
export const allWrongCodes = ({ wrong_codes, joined = [] }: Pick<Otp, 'wrong_codes' | 'joined'>): number =>
  joined.reduce((sum, one) => sum + one.wrong_codes, wrong_codes)

/** Undefined before the first wrong code of any id. */
export function firstWrongAt({
  first_wrong_at,
  joined = [],
}: Pick<Otp, 'first_wrong_at' | 'joined'>): number | undefined {
  const times = [first_wrong_at, ...joined.map(one => one.first_wrong_at)].filter(at => at !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}
