// A send that does not start a second verification while the recipient's latest one is pending: then it joins that one,
// as a resend with the rules of a resend, under an id of its own. The id of a send before it is approved only by a code
// that is entered there, and guesses under it take none from this one (machines/otp.ids.ts). In: the call. Out: what
// the send or the resend answers. Calls for one recipient take turns: in this process one after the other
// (call-handler.ts), between processes by a claim that is held for as long as the call takes.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { Trace } from '../../../infra/trace.ts'
import { MAX_CODE_LIFE_MS, statusAt } from '../../../machines/otp.code-life.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import { completionOf } from '../../../machines/otp.queries.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import { MAX_AGE_OF_TAKEN_OVER_ID_MS } from '../../domain/verifications/claim-holds.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest, inFlight } from '../../domain/verifications/encryption-context.ts'
import { latestOfRecipient } from '../../domain/verifications/latest-of-recipient.ts'
import { reuseIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { acceptRecipient } from '../../domain/verifications/valid-recipient.ts'
import type { CachedApp } from '../apps.ts'
import { type Claims, claimLifeMs, existingOtp } from './idempotency-claims.ts'
import type { createResend } from './resend.ts'
import type { createSend, SendCall, SendResult } from './send.ts'

/** Longer than a call takes. After a crash the recipient waits for no longer. */
const TURN_MS = 10_000
/** The id of a verification may be older than its code. One that is older than this is not pending. */
const MAX_PENDING_MS = MAX_CODE_LIFE_MS + MAX_AGE_OF_TAKEN_OVER_ID_MS

export interface ReuseDeps {
  keyring: Pick<Keyring, 'indexes' | 'seal' | 'unseal'>
  claims: Claims
  otps: Pick<Docs<OtpDoc>, 'find' | 'update'>
  clock: Pick<Clock, 'now'>
  send: ReturnType<typeof createSend>
  resend: ReturnType<typeof createResend>
}

type Recipients = Pick<Keyring, 'indexes' | 'unseal'>

/** Undefined for a text that is no recipient: the send refuses it. */
const recipientOf = (keyring: Recipients, { by, sealed_recipient }: SendCall): string | undefined =>
  acceptRecipient(keyring.unseal(sealed_recipient, inFlight.recipient), by.mode)?.parsed.value

const turnsOf = (keyring: Recipients, { by }: SendCall, recipient: string): string[] =>
  reuseIndexes(keyring, by, recipient).sort()

/** Names the recipient of a call, under every data key. Null where it cannot be read: the call itself answers that. */
export function reuseKeyOf(keyring: Recipients, call: SendCall): string | null {
  try {
    const recipient = recipientOf(keyring, call)
    return recipient === undefined ? null : turnsOf(keyring, call, recipient).join()
  } catch (error) {
    if (isMissingKeyError(error)) return null
    throw error
  }
}

export function createSendOrResend({ keyring, claims, otps, clock, send, resend }: ReuseDeps) {
  return async (
    command_id: string,
    call: SendCall,
    app: CachedApp,
    trace: Trace | undefined,
    expired: () => boolean,
  ): Promise<SendResult> => {
    const { by } = call
    const start = () => send(command_id, call, app, trace, expired)
    const recipient = recipientOf(keyring, call)
    if (recipient === undefined) return start()

    /** A call with an idempotency key that has its answer gets that one; otherwise the key leads to the verification that is resent. */
    const resendInstead = async (latest: OtpDoc, isReused: boolean): Promise<SendResult> => {
      const keyed =
        call.claim && (await claims.claim(call.claim, call.otp_id, claimLifeMs(call.claim, app.settings, by.mode)))
      if (keyed?.kind === 'bound') return { answer: existingOtp(keyed, command_id) }
      const { challenge_solution } = call
      // The resend of a key happens once in its life, also if the process dies before the key is bound.
      const resend_id = call.claim && keyed ? `${call.claim.ids[0]}:${keyed.claimed_at}` : command_id
      const wasResent = latest.last_commands.some(({ id }) => id === resend_id)
      const { key_id, kind } = by
      const joins = {
        otp_id: call.otp_id,
        saved: { by: { key_id, kind }, ...joinedMetadata(call), ...(call.text && { text: call.text }) },
      }
      if (!isReused && !wasResent) {
        // The key was used in a life of it that is over.
        if (keyed) await claims.release(keyed)
        return start()
      }
      const resendCall = { otp_id: latest._id, channel: channelFor(latest, call) }
      const resent = await resend(
        resend_id,
        {
          type: 'otp.resend',
          by,
          ...resendCall,
          joins,
          ...(challenge_solution === undefined ? {} : { challenge_solution }),
        },
        app,
        trace,
      )
      if (resent.answer.kind !== 'verification') {
        if (keyed) await claims.release(keyed)
        return { ...resent, resend: resendCall }
      }
      // A resend is accepted only while the verification is pending, also if it has ended since.
      const verification = { ...resent.answer.verification, status: 'pending' as const }
      if (keyed && call.claim) {
        const { otp_id, first_id = latest._id, status, channel, sealed_action_url, completion } = verification
        // First, so that an erasure of the verification finds the claims.
        await otps.update(call.claim.ids.map(id => ({ ids: [latest._id], update: { $addToSet: { claims: id } } })))
        await claims.bind(keyed, latest, { otp_id, first_id, status, channel, sealed_action_url, completion })
      }
      return {
        ...resent,
        answer: { ...resent.answer, verification, ...(wasResent && keyed ? { replayed: true } : {}) },
      }
    }

    /** Sealed for the id that gets them. */
    function joinedMetadata({ sealed_metadata, otp_id }: SendCall): { metadata?: string } {
      if (sealed_metadata === undefined) return {}
      return { metadata: keyring.seal(keyring.unseal(sealed_metadata, inFlight.metadata), atRest.metadata(otp_id)) }
    }

    // It holds no key: nothing is found by it once the call is over.
    const claim = { ids: turnsOf(keyring, call, recipient) }
    const turn = await claims.claim(claim, call.otp_id, TURN_MS)
    try {
      const found = await latestOfRecipient({ otps, keyring }, by, recipient, clock.now() - MAX_PENDING_MS)
      // Bound: another process has just started a verification, and has not ended its turn yet.
      const latest = turn.kind === 'bound' && (found === null || found._id < turn.otp._id) ? turn.otp : found
      const isReused = latest !== null && isReusable(latest, call, clock.now())
      if (latest === null || !(isReused || mayBeResentFor(latest, call))) return await start()
      const resent = await resendInstead(latest, isReused)
      return endedMeanwhile(resent) ? await start() : resent
    } finally {
      // A claim that stays is free again soon.
      if (turn.kind === 'held') await claims.release(turn).catch(() => {})
    }
  }
}

const endedMeanwhile = ({ answer }: SendResult): boolean =>
  answer.kind === 'refused' && answer.error === 'ResendNotAllowedError' && answer.cause === 'not_pending'

/** Whether this call, or its key, has joined the verification already. If its process died before it answered, that is
 *  still the answer, although the verification has ended since. */
const mayBeResentFor = ({ last_commands, context }: OtpDoc, { claim, otp_id }: SendCall): boolean =>
  (context.joined !== undefined && idsOf(context).includes(otp_id)) ||
  (claim !== null && last_commands.some(({ id }) => id.startsWith(`${claim.ids[0]}:`)))

function isReusable(latest: OtpDoc, { otp_id, channel, without_link }: SendCall, now: number): boolean {
  // This call made it, and was delivered again.
  if (latest._id === otp_id) return false
  const { value, context: otp } = toCurrentVersion(latest)
  // Who has the link of another session would approve that session by sending its message.
  if (completionOf(otp) === 'inbound') return false
  const needsLink = otp.link !== null || (channel === 'whatsapp' && otp.whatsapp !== 'template')
  return statusAt(value, otp, now) === 'pending' && !(without_link && needsLink)
}

/** A verification that was started on one channel stays there, with the same code, unless another is named. */
function channelFor({ context: { order, channel: current } }: OtpDoc, { channel }: SendCall) {
  const staysThere = order.length === 1 && order[0] === channel && current === channel
  return channel === undefined || staysThere ? null : channel
}
