// Accepts a send, or a message, whose code its caller made. It is a short saga, and every step can be repeated:
//   check the recipient → claim the idempotency key → spend the challenge → plan → count against the limits →
//   ask the fraud guard → pay → insert the verification
// A refusal undoes the steps before it. A crash may leave a claim, which the next call with the same key takes over; counts, which slide
// out of their windows; and a hold on the price, which the sweeper voids.

import type { BoundedMap } from '../../../infra/bounded-map.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf, OtpAnswer, Refusal } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { SendCircumstances } from '../../../machines/otp.ts'
import { freeChannel } from '../../../machines/routing.ts'
import type { OptOuts } from '../../domain/recipients/opt-outs.ts'
import { type RefusedRecipient, refusedRecipient } from '../../domain/refusals/refusal-log.ts'
import type { MetadataIndexDoc, OtpDoc } from '../../domain/verifications/documents.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { mailboxIndexes, recipientIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { metadataIndexDocs } from '../../domain/verifications/metadata.ts'
import type { Relay } from '../../domain/verifications/outbox.ts'
import {
  acceptRecipient,
  type CheckedRecipient,
  invalidRecipientDetail,
  type ParsedRecipient,
} from '../../domain/verifications/valid-recipient.ts'
import type { CachedApp } from '../apps.ts'
import type { ChallengeOutcome, FraudGuard } from '../fraud/guard.ts'
import { type Funds, INSUFFICIENT_FUNDS } from '../funds.ts'
import type { Limits } from '../limits/limits.ts'
import { sendQuotas } from '../limits/quota-counters.ts'
import { type JudgedAddress, judgeClientAddress, type Reputation } from '../limits/reputation.ts'
import { expiredRefusal, refusal } from '../refusals.ts'
import {
  chainReservations,
  type Granted,
  NO_RESERVATION,
  type Refused,
  type Reservation,
  reserve,
} from '../reservation.ts'
import type { Challenges } from './challenges.ts'
import { type Claims, claimLifeMs, existingOtp, type HeldClaim } from './idempotency-claims.ts'
import { type NewOtpInput, newOtpDocument } from './new-otp-document.ts'
import { planSend, type SendPlan } from './send-plan.ts'
import { prepareIsUnlearned } from './unlearned-sends.ts'

export type SendCall = CallOf<'otp.send'>

/** What came of a send or a resend. */
export interface SendResult {
  answer: OtpAnswer
  /** For the record of a refusal; absent where it is not known. */
  recipient?: RefusedRecipient
  /** The resend, where the send was refused as one of a pending verification. */
  resend?: Pick<CallOf<'otp.resend'>, 'otp_id' | 'channel'>
  /** The call brought a challenge solved at the highest difficulty. */
  solvedHardest?: boolean | undefined
  /** The client address of a send, as far as it was judged. */
  client?: JudgedAddress | null
}

export interface SendDeps {
  keyring: Keyring
  clock: Clock
  claims: Claims
  limits: Limits
  reputation(address: string): Promise<Reputation>
  otps: Pick<Docs<OtpDoc>, 'insert' | 'get' | 'find'>
  metadataIndexes: Pick<Docs<MetadataIndexDoc>, 'insert'>
  relay: Pick<Relay, 'publish'>
  funds: Funds
  guard: FraudGuard
  challenges: Challenges
  optOuts: Pick<OptOuts, 'stoppedChannels'>
  recentOtps: Pick<BoundedMap<OtpDoc>, 'set'>
  /** Called after every saved change; `before` is null for a new verification. */
  onChange(before: OtpDoc | null, after: OtpDoc): void
}

/** A send that was granted: its document, and what was taken for it. */
interface GrantedSend extends Granted {
  doc: OtpDoc
}

interface NewSend extends Pick<NewOtpInput, 'command_id' | 'otp_id' | 'call' | 'app' | 'trace'> {
  recipient: CheckedRecipient
  client: JudgedAddress | null
  stopped: readonly Channel[]
}

export const createSend = (deps: SendDeps) => {
  const { keyring, claims, limits, otps, metadataIndexes, relay, recentOtps, funds, guard, challenges, onChange } = deps

  /** `expired`: whether the caller does not wait any longer. */
  return async (
    command_id: string,
    call: SendCall,
    app: CachedApp,
    trace: Trace | undefined,
    expired: () => boolean,
  ): Promise<SendResult> => {
    const refused = (answer: Refusal, parsed: ParsedRecipient | null): SendResult => ({
      answer,
      recipient: refusedRecipient(keyring, call.by, text, parsed),
      client,
    })
    let client: JudgedAddress | null = null
    const text = keyring.unseal(call.sealed_recipient, inFlight.recipient)
    // The last check of the request itself, before the claim: a repeated idempotency key does not spare the caller this check.
    const recipient = acceptRecipient(text, call.by.mode)
    if (recipient === null) return refused(refusal('InvalidRecipientError', invalidRecipientDetail(text)), null)
    const claim =
      call.claim && (await claims.claim(call.claim, call.otp_id, claimLifeMs(call.claim, app.settings, call.by.mode)))
    if (claim?.kind === 'bound') return { answer: existingOtp(claim, command_id) }
    const otp_id = claim?.otp_id ?? call.otp_id

    const judgeAndGrant = async () => {
      const [address, stopped] = await Promise.all([
        judgeClientAddress(deps, call.sealed_client_ip, inFlight.clientIp),
        stoppedChannels(call, recipient),
      ])
      client = address
      return grant({ command_id, otp_id, call, app, recipient, client, stopped, trace })
    }
    const granted = await judgeAndGrant().catch(async error => {
      await releaseKey(claim).catch(() => {})
      throw error
    })
    if (granted.refusal) {
      await releaseKey(claim)
      return { ...refused(granted.refusal, recipient.parsed), solvedHardest: granted.solvedHardest }
    }
    // A login that has no answer drops its code. Any other caller can ask what came of its call.
    if (call.from_login && expired()) {
      await granted.undo()
      await releaseKey(claim)
      return refused(expiredRefusal(), recipient.parsed)
    }
    return { answer: await insertOtp(granted, command_id) }
  }

  /** A magic recipient never wrote to anyone. */
  async function stoppedChannels({ by }: SendCall, { parsed, magic }: CheckedRecipient): Promise<readonly Channel[]> {
    return parsed.kind === 'phone' && magic === null ? deps.optOuts.stoppedChannels(by, parsed.value) : []
  }

  async function releaseKey(claim: HeldClaim | null): Promise<void> {
    if (claim !== null) await claims.release(claim)
  }

  /** Checks the send, then takes what it needs: the challenge it solved, from the limits and from the balance. A refusal leaves nothing
   *  taken. */
  async function grant(send: NewSend): Promise<GrantedSend | Refused> {
    const { command_id, call, app, recipient, client } = send
    const challenge = await challenges.check({
      command_id,
      by: call.by,
      app,
      otp_id: null,
      recipient: () => recipient.parsed.value,
      address: client,
      solution: call.challenge_solution,
      token: call.challenge_token,
    })
    return chainReservations(challenge, () => grantSolved(send, challenge))
  }

  /** The part of `grant` after the challenge. */
  async function grantSolved(
    { command_id, otp_id, call, app, recipient, client, stopped, trace }: NewSend,
    challenge: ChallengeOutcome,
  ): Promise<GrantedSend | Refused> {
    const plan = planSend({
      recipient,
      mode: call.by.mode,
      caller: call.by.kind,
      app,
      reputation: client?.reputation ?? null,
      call,
      stopped,
      givenCode: call.sealed_code === undefined ? null : keyring.unseal(call.sealed_code, inFlight.code),
    })
    if ('kind' in plan) return { ...NO_RESERVATION, refusal: plan }

    const indexes = recipientIndexes(keyring, call.by, plan.recipient.value)
    const input: NewOtpInput = {
      command_id,
      otp_id,
      call,
      app,
      plan,
      recipientIndex: indexes[0] ?? '',
      clientAddress: client?.value ?? null,
      circumstances: circumstancesOf(call, plan, client, challenge),
      prices: await funds.pricesFor(call.by, plan),
      trace,
    }
    const draft = newOtpDocument(deps, input)

    const quotas = sendQuotas(keyring, {
      app_id: call.by.app_id,
      mode: call.by.mode,
      kind: call.by.kind,
      limits: app.settings.limits,
      mailboxIndexes: plan.magic ? null : mailboxIndexes(keyring, call.by, plan.recipient.value, indexes),
      address: client,
      sendsMessage: draft.context.link === null,
      fromLogin: call.from_login === true,
    })
    const isUnlearned = await prepareIsUnlearned(deps, { otp_id, by: call.by, plan, quotas })
    // The guard reads at the same time. Otherwise sends about which it knows enough would run ahead of the others that began with them, and
    // every later step would be two commands to the store.
    const [counted] = await Promise.all([
      reserve(limits, quotas),
      guard.prepare({ otp: draft.context, app, recipient: plan.recipient.value, challenge }),
    ])
    const guarded = await chainReservations(counted, () =>
      guard.check({
        command_id,
        otp: draft.context,
        app,
        recipient: plan.recipient.value,
        free: freeChannel(plan, input.prices, draft.context.whatsapp),
        challenge,
      }),
    )
    if (guarded.refusal) return guarded

    // The limits and the guard judge a draft, of which nothing is saved. What they say may change it: the guard may move a suspicious
    // message to a free channel instead of refusing it, and learned routes may leave the send out. Both belong to the machine's first
    // command, from which state, effects and answer follow, so then the document is built a second time.
    const { moved } = guarded
    const unlearned = isUnlearned(counted, guarded)
    const doc =
      moved === undefined && !unlearned
        ? draft
        : newOtpDocument(deps, {
            ...input,
            plan: { ...plan, channel: moved ?? plan.channel },
            isUnlearned: unlearned,
          })
    const paid = await chainReservations(guarded, () => pay(doc, input))
    return paid.refusal ? paid : { ...paid, doc }
  }

  function pay({ context: otp }: OtpDoc, { app, plan, prices }: NewOtpInput): Reservation | Promise<Reservation> {
    if (plan.insufficientFunds) return INSUFFICIENT_FUNDS
    // A link sends no message yet, so there is nothing to pay yet.
    return otp.link === null ? funds.take(otp, app.settings) : funds.checkBalance(otp, prices)
  }

  async function insertOtp({ doc, undo, use }: GrantedSend, command_id: string): Promise<OtpAnswer> {
    // Before the verification, so that one that exists can be found. What is left of one that was not inserted is purged with the others.
    if (doc.metadata !== undefined) await metadataIndexes.insert(metadataIndexDocs(keyring, doc, command_id))
    const [answer] = await otps.insert([doc])
    if (answer === 'inserted') {
      recentOtps.set(doc._id, doc)
      onChange(null, doc)
      relay.publish(doc._id, doc.outbox)
      return { kind: 'verification', verification: doc.first, ...(use ? { limit: use } : {}) }
    }
    // The call was delivered twice, or the former holder of the claim was only slow: the verification that exists is the answer.
    await undo()
    const existing = await getOne(otps, doc._id)
    return existingOtp({ otp: existing ?? doc }, command_id)
  }
}

/** Undefined where nothing is unusual, as in most sends. */
function circumstancesOf(
  { from_login }: SendCall,
  { asked, stopped, blocked }: SendPlan,
  client: JudgedAddress | null,
  { solvedHardest }: ChallengeOutcome,
): SendCircumstances | undefined {
  const circumstances: SendCircumstances = { ...asked }
  if (client?.reputation === 'suspect') circumstances.suspect = true
  if (solvedHardest) circumstances.hardest_challenge = true
  if (from_login) circumstances.from_login = true
  if (blocked) circumstances.blocked = true
  else if (stopped.length > 0) circumstances.stopped = [...stopped]
  return Object.keys(circumstances).length === 0 ? undefined : circumstances
}
