// Resends a verification. In: the call. Out: the verification, or a refusal. The machine decides whether and on which channel; then a
// device may have to solve a challenge, the client address of the send is checked again, the resend is counted for that address and the
// app, and its message is paid for.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import { type OtpCommand, type Step, step } from '../../../machines/otp.step.ts'
import type { JoinedId } from '../../../machines/otp.ts'
import type { JoinedIdDoc, OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import type { CachedApp } from '../apps.ts'
import type { Commit } from '../commit.ts'
import { resendQuotas } from '../limits/quota-counters.ts'
import { judgeClientAddress, type Reputation } from '../limits/reputation.ts'
import {
  obstacleFor,
  type ResendInputsDeps,
  resendInputsFor,
  stoppedFor,
  usableFor,
} from '../next-message/resend-inputs.ts'
import { type ReserveMessageDeps, reserveMessage } from '../next-message/reserve-message.ts'
import { abusiveAddressRefusal } from '../refusals.ts'
import { chainReservations, NO_RESERVATION, type Reservation } from '../reservation.ts'
import type { Challenges } from './challenges.ts'
import type { SendResult } from './send.ts'
import { verificationAnswer } from './verification-answer.ts'

type ResendCommand = Extract<OtpCommand, { type: 'otp.resend' }>

/** A send that joins a pending verification is a resend of it under a new id (reuse-pending.ts). */
type ResendCall = CallOf<'otp.resend'> & { joins?: Joins }

interface Joins {
  otp_id: string
  saved: Pick<JoinedId, 'by' | 'metadata' | 'text'>
}

export interface ResendDeps extends ReserveMessageDeps {
  keyring: Keyring
  clock: Clock
  reputation(address: string): Promise<Reputation>
  commit: Commit
  challenges: Challenges
  optOuts: ResendInputsDeps['optOuts']
  joinedIds: Pick<Docs<JoinedIdDoc>, 'insert'>
}

export const createResend = (deps: ResendDeps) => {
  const { keyring, clock, commit, challenges, joinedIds } = deps
  return async (
    command_id: string,
    call: ResendCall,
    app: CachedApp,
    trace: Trace | undefined,
  ): Promise<SendResult> => {
    let reserved: Reservation = NO_RESERVATION
    const { joins } = call
    const committed = await commit(call.otp_id, call.by, {
      trace,
      command: async doc => {
        const stopped = await stoppedFor(doc.context, deps)
        const inputs = await resendInputsFor(doc.context, app, stopped, deps)
        const command: ResendCommand = {
          ...inputs,
          id: command_id,
          type: 'otp.resend',
          at: clock.now(),
          otp_id: joins?.otp_id ?? call.otp_id,
          ...(joins && { joins: joins.saved }),
          requestedChannel: call.channel,
          by: call.by.kind,
          obstacle: call.channel && obstacleFor(doc.context, app, call.channel, stopped),
        }
        throwIfKeyMissing(app, doc, command, stopped)
        return command
      },
      reserve: async (next, doc) => {
        reserved = await reserveResend(command_id, call, app, next, doc)
        return reserved
      },
    })
    const { use, solvedHardest } = reserved
    const answer = verificationAnswer(committed, call.otp_id, clock.now(), use)
    return committed === null ? { answer } : { answer, recipient: committed.doc.context.recipient, solvedHardest }
  }

  /** A resend that fails only because a provider's data key is missing must be retried, so it throws instead of being refused. */
  function throwIfKeyMissing(app: CachedApp, doc: OtpDoc, command: ResendCommand, stopped: readonly Channel[]): void {
    if (doc.mode === 'test' || app.unreadable.length === 0 || step(doc, command).changed) return
    for (const unreadable of app.unreadable) {
      const usable = usableFor(doc.context, app, [...app.providers(doc.mode), unreadable], stopped)
      if (step(doc, { ...command, usable }).changed) throw unreadable.problem
    }
  }

  async function reserveResend(
    command_id: string,
    call: ResendCall,
    app: CachedApp,
    next: Step,
    doc: OtpDoc,
  ): Promise<Reservation> {
    const { link } = next.saved.context
    // The answer contains the link. If its key is missing, that must show before the resend is counted.
    if (link && !keyring.isCurrent(link.sealed_url)) keyring.unseal(link.sealed_url, atRest.link(doc._id))
    // The address of the first send, by the current address lists.
    const address = await judgeClientAddress(deps, doc.context.client_ip, atRest.clientIp(doc._id))
    const challenge = await challenges.check({
      command_id,
      by: call.by,
      app,
      otp_id: doc._id,
      recipient: () => keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id)),
      address,
      solution: call.challenge_solution,
      token: call.challenge_token,
    })
    return chainReservations(challenge, () => {
      if (address?.reputation === 'abusive') return { ...NO_RESERVATION, refusal: abusiveAddressRefusal() }
      const { limits } = app.settings
      const callQuotas = resendQuotas(keyring, { ...call.by, limits, address })
      if (call.joins === undefined) return reserveMessage(deps, app, next, doc, { callQuotas, challenge })
      return reserveJoin(call.joins, doc, () =>
        reserveMessage(deps, app, next, doc, { callQuotas, sendLimit: limits.recipient, challenge }),
      )
    })
  }

  /** The new id leads to the verification before any answer names it. One that was not taken after all leads nowhere. */
  async function reserveJoin(
    { otp_id }: Joins,
    doc: OtpDoc,
    reserveMessage: () => Promise<Reservation>,
  ): Promise<Reservation> {
    const reservation = await reserveMessage()
    if (!reservation.refusal)
      await joinedIds.insert([{ _id: otp_id, otp_id: doc._id, purge_at: doc.purge_at }]).catch(async error => {
        await reservation.undo()
        throw error
      })
    return reservation
  }
}
