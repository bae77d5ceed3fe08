// Builds the document of a new verification. In: a send that was checked, and the id of its command. Out: the document, with the
// machine's first state and the effects in its outbox. Nothing is written here.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import { partitionOf } from '../../../infra/partitions.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { CallOf } from '../../../machines/calls.ts'
import { rulesFrom } from '../../../machines/otp.changes.ts'
import { messageLifeMs } from '../../../machines/otp.code-life.ts'
import { step } from '../../../machines/otp.step.ts'
import type { Prices, SendCircumstances } from '../../../machines/otp.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import { retentionMs } from '../../domain/retention.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest, inFlight } from '../../domain/verifications/encryption-context.ts'
import { effectMessages } from '../../domain/verifications/outbox.ts'
import { owedDelivery } from '../../domain/verifications/owed.ts'
import type { CachedApp } from '../apps.ts'
import { linkFor } from '../whatsapp-links.ts'
import { claimIds } from './idempotency-claims.ts'
import type { SendPlan } from './send-plan.ts'

export interface NewOtpInput {
  command_id: string
  otp_id: string
  call: CallOf<'otp.send'>
  app: CachedApp
  plan: SendPlan
  /** The recipient's keyed index under the current data key. */
  recipientIndex: string
  clientAddress: string | null
  circumstances: SendCircumstances | undefined
  prices: Prices
  trace: Trace | undefined
  /** Learned routes leave it out. */
  isUnlearned?: boolean
}

const SALT_BYTES = 16

export function newOtpDocument({ keyring, clock }: { keyring: Keyring; clock: Clock }, input: NewOtpInput): OtpDoc {
  const { command_id, otp_id, call, app, plan, recipientIndex, clientAddress, circumstances, prices, trace } = input
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
      index: recipientIndex,
      masked: plan.masked,
      country: plan.country,
      ...(plan.recipient.kind === 'phone' && plan.recipient.numberKind && { number_kind: plan.recipient.numberKind }),
    },
    client_ip: clientAddress === null ? null : keyring.seal(clientAddress, atRest.clientIp(otp_id)),
    ...(circumstances && { circumstances }),
    code:
      plan.givenCode === null
        ? {
            secret: keyring.currentCodeSecret(),
            salt: keyring.seal(randomBytes(SALT_BYTES).toString('base64url'), atRest.salt({ otp_id, app_id })),
            length: settings.code.length,
          }
        : {
            given: keyring.seal(plan.givenCode, atRest.givenCode(otp_id)),
            ...(call.code_life_ms !== undefined && { life_ms: call.code_life_ms }),
          },
    rules:
      plan.givenCode === null
        ? rulesFrom(settings)
        : { ...rulesFrom(settings), ttl_ms: messageLifeMs(call.code_life_ms) },
    delivery_id: newId('dlv', at),
    prices,
    link: linkFor(keyring, { otp_id, locale, whatsapp }, app),
    ...(input.isUnlearned ? { unlearned: true } : {}),
    ...(call.text === undefined ? {} : { text: call.text }),
  })
  const doc: OtpDoc = {
    _id: otp_id,
    company_id,
    app_id,
    mode,
    machine: saved.machine,
    version: saved.version,
    value: saved.value,
    context: saved.context,
    last_commands: saved.last_commands,
    recipient: recipientIndex,
    created_at: at,
    partition: partitionOf(otp_id),
    outbox: effectMessages({ _id: otp_id, company_id, app_id, mode }, effects, at, trace),
    outbox_at: effects.length === 0 ? null : at,
    first: verificationView(saved, at),
    rev: 1,
    purge_at: new Date(at + retentionMs(settings, mode)),
  }
  const reference = saved.context.link?.reference
  if (reference !== undefined) doc.reference = reference
  if (dueAt !== null) doc.due_at = dueAt
  const owed = owedDelivery(saved.context)
  if (owed) {
    doc.owed_at = at
    doc.owed_channel = owed.channel
  }
  if (trace !== undefined) doc.request_id = trace.request_id
  if (call.sealed_metadata !== undefined)
    doc.metadata = keyring.seal(keyring.unseal(call.sealed_metadata, inFlight.metadata), atRest.metadata(otp_id))
  if (call.claim !== null) doc.claims = claimIds(call.claim)
  return doc
}
