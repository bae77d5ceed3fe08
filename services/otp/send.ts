// Accepting a send: a short saga, every step repeatable.  claim → checks → counters → fraud guard → money → the verification
// A refusal undoes what went before. What a crash leaves behind is a claim that the next caller or the sweeper takes over, and
// counts that slide out of their windows.

import { randomBytes } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { partitionOf } from '../../infra/partitions.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { OtpAnswer, OtpCall, Refusal } from '../../machines/calls.ts'
import type { Channel } from '../../machines/channels.ts'
import { step } from '../../machines/otp.step.ts'
import type { Otp, Prices } from '../../machines/otp.ts'
import { verificationView } from '../../machines/otp.view.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { retentionMs } from '../domain/retention.ts'
import { recipientIndexes } from '../domain/verifications/counter-names.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest, inFlight } from '../domain/verifications/encryption-context.ts'
import { outboxEntries, type Relay } from '../domain/verifications/outbox.ts'
import type { CachedApp } from './apps.ts'
import type { BoundedMap } from './bounded-map.ts'
import type { FraudCheckInput, FraudGuard } from './fraud/guard.ts'
import type { Claims } from './idempotency-claims.ts'
import type { Limits } from './limits/limits.ts'
import { sendQuotas } from './limits/quotas.ts'
import type { Reputation } from './limits/reputation.ts'
import { linkFor } from './links.ts'
import { type Funds, INSUFFICIENT_FUNDS } from './money/funds.ts'
import { chainReservations, type Reservation, reserve } from './reservation.ts'
import { freeChannel, planSend, type SendPlan } from './send-plan.ts'

type SendCall = Extract<OtpCall, { type: 'otp.send' }>

export interface SendDeps {
  keyring: Keyring
  clock: Clock
  claims: Claims
  limits: Limits
  reputation(address: string): Promise<Reputation>
  otps: Pick<Docs<OtpDoc>, 'insert' | 'get'>
  relay: Relay
  funds: Funds
  guard: FraudGuard
  recentOtps: Pick<BoundedMap<OtpDoc>, 'set'>
}

export const createSend = (deps: SendDeps) => {
  const { keyring, claims, limits, otps, relay, recentOtps, funds, guard } = deps

  /** The checks that need no counting, then the counting. Nothing is left behind by a refusal. */
  async function prepare(command_id: string, otp_id: string, call: SendCall, app: CachedApp): Promise<PreparedSend> {
    const address = call.sealed_client_ip === null ? null : keyring.unseal(call.sealed_client_ip, inFlight.clientIp)
    const client = address === null ? null : { value: address, reputation: await deps.reputation(address) }
    const plan = planSend({
      recipient: keyring.unseal(call.sealed_recipient, inFlight.recipient),
      mode: call.by.mode,
      caller: call.by.kind,
      app,
      reputation: client?.reputation ?? null,
    })
    if ('kind' in plan) return { refusal: plan }
    const indexes = recipientIndexes(keyring, call.by, plan.recipient.value)
    const [index = ''] = indexes
    const prices = await funds.pricesFor(call.by.mode, plan)
    const input = { command_id, otp_id, call, app, plan, index, address, prices }
    const draft = newOtpDocument(deps, input)
    const quotas = sendQuotas(keyring, {
      ...call.by,
      limits: app.settings.limits,
      recipient: plan.magic ? null : indexes,
      address: client,
      message: draft.context.link === null,
    })
    let moved: Channel | undefined
    const guarded = await chainReservations(await reserve(limits, quotas), async () => {
      const answer = await guard.check(fraudCheckInput(input, draft))
      moved = answer.moved
      return answer
    })
    if (guarded.refusal) return { refusal: guarded.refusal }
    const doc = moved ? newOtpDocument(deps, { ...input, plan: { ...plan, channel: moved } }) : draft
    const { refusal, undo } = await chainReservations(guarded, () => pay(doc.context, plan, prices, app.settings))
    return refusal ? { refusal } : { doc, undo }
  }

  const fraudCheckInput = (
    { command_id, app, plan, prices }: NewOtpInput,
    { context: otp }: OtpDoc,
  ): FraudCheckInput => ({
    command_id,
    otp,
    app,
    recipient: plan.recipient.value,
    free: freeChannel(plan, prices, otp.whatsapp),
  })

  const pay = async (
    otp: Otp,
    { insufficientFunds }: SendPlan,
    prices: Prices,
    settings: AppSettings,
  ): Promise<Reservation> =>
    insufficientFunds
      ? INSUFFICIENT_FUNDS
      : otp.link === null
        ? funds.take(otp, settings)
        : funds.checkBalance(otp, prices)

  async function insertOtp({ doc, undo }: { doc: OtpDoc; undo(): Promise<void> }): Promise<OtpAnswer> {
    const [answer] = await otps.insert([doc])
    if (answer === 'inserted') {
      recentOtps.set(doc._id, doc)
      guard.onChange(null, doc)
      relay(doc._id, doc.outbox)
      return { kind: 'verification', verification: doc.first }
    }
    // This call came twice, or whoever held the claim before was slow and not dead: theirs is the verification.
    await undo()
    const existing = (await otps.get([doc._id])).get(doc._id)
    return { kind: 'verification', verification: existing?.first ?? doc.first }
  }

  return async (command_id: string, call: SendCall, app: CachedApp): Promise<OtpAnswer> => {
    const { idempotency_ttl_seconds, retention_days } = app.settings
    // It leads to its verification, and not beyond.
    const claimLifeMs = Math.min(idempotency_ttl_seconds * 1000, retentionMs(retention_days))
    const claim = call.claim === null ? null : await claims.claim(call.claim, call.otp_id, claimLifeMs)
    if (claim?.kind === 'bound') return { kind: 'verification', verification: claim.otp.first }
    const otp_id = claim?.otp_id ?? call.otp_id
    const release = async (): Promise<void> => {
      if (call.claim !== null && claim !== null) await claims.release(call.claim, claim)
    }
    const prepared = await prepare(command_id, otp_id, call, app).catch(async error => {
      await release().catch(() => {})
      throw error
    })
    if ('doc' in prepared) return insertOtp(prepared)
    await release()
    return prepared.refusal
  }
}

type PreparedSend = { refusal: Refusal } | { doc: OtpDoc; undo(): Promise<void> }

interface NewOtpInput {
  command_id: string
  otp_id: string
  call: SendCall
  app: CachedApp
  plan: SendPlan
  index: string
  address: string | null
  prices: Prices
}

const SALT_BYTES = 16

function newOtpDocument({ keyring, clock }: Pick<SendDeps, 'keyring' | 'clock'>, input: NewOtpInput): OtpDoc {
  const { command_id, otp_id, call, app, plan, index, address, prices } = input
  const { settings } = app
  const { company_id, app_id, mode, key_id, kind } = call.by
  const at = clock.now()
  const whatsapp = settings.channels.whatsapp.mode
  const locale = call.locale ?? settings.locale
  const { saved, effects, dueAt } = step(null, {
    id: command_id,
    type: 'otp.start',
    at,
    otp_id,
    company_id,
    app_id,
    mode,
    order: plan.order,
    channel: plan.channel,
    whatsapp,
    locale,
    started_by: { key_id, kind },
    recipient: {
      kind: plan.recipient.kind,
      sealed: keyring.seal(plan.recipient.value, atRest.recipient(otp_id)),
      index,
      masked: plan.masked,
      country: plan.country,
    },
    client_ip: address === null ? null : keyring.seal(address, atRest.clientIp(otp_id)),
    code: {
      secret: keyring.currentCodeSecret(),
      salt: keyring.seal(randomBytes(SALT_BYTES).toString('base64url'), atRest.salt(otp_id)),
      length: settings.code.length,
    },
    rules: {
      ttl_ms: settings.code.ttl_seconds * 1000,
      verify_attempts: settings.verify_attempts,
      send_attempts: settings.send_attempts,
      cooldowns_ms: settings.resend_cooldown_seconds.map(seconds => seconds * 1000),
      token_ttl_ms: settings.token_ttl_seconds * 1000,
      auto_fallback: settings.auto_fallback,
    },
    delivery_id: newId('dlv', at),
    prices,
    link: linkFor(keyring, { otp_id, locale, whatsapp }, app),
  })
  const reference = saved.context.link?.reference
  const owner = { _id: otp_id, company_id, app_id, mode }
  return {
    ...owner,
    ...saved,
    recipient: index,
    ...(reference === undefined ? {} : { reference }),
    ...(dueAt === null ? {} : { due_at: dueAt }),
    created_at: at,
    partition: partitionOf(otp_id),
    outbox: outboxEntries(owner, effects, at),
    outbox_at: effects.length === 0 ? null : at,
    ...(call.claim === null ? {} : { claim: call.claim }),
    first: verificationView(saved, at),
    rev: 1,
    purge_at: new Date(at + retentionMs(settings.retention_days)),
  }
}
