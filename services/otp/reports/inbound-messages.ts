// Handles a user's WhatsApp message. In: a report with the sender (sealed) and the references in the text. Out: if the recipient wrote it
// in time, the verification is approved or its code is delivered; otherwise nothing changes, and a log line and a metric say why.
//
// A user who hides their number is asked for it. What they answer is a report without a reference: the verification is found by the number,
// and counts as theirs if the same user was asked for its current link. Then their message is handled as if it had come with the number.
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Cache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs, ReadOptions } from '../../../infra/store/docs.ts'
import { requestOf, type Trace, withTrace } from '../../../infra/trace.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import type { OtpCommand } from '../../../machines/otp.step.ts'
import type { Otp } from '../../../machines/otp.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest, inFlight } from '../../domain/verifications/encryption-context.ts'
import { recipientIndexes } from '../../domain/verifications/lookup-indexes.ts'
import { type ApprovalNoticeBody, channelQueue, type OtpReport } from '../../domain/verifications/queue-messages.ts'
import { eventIdFor } from '../../domain/webhooks/event-ids.ts'
import type { CachedApp } from '../apps.ts'
import type { Commit } from '../commit.ts'
import { isUnpaid, type ReserveMessageDeps, reserveMessage } from '../next-message/reserve-message.ts'
import { numberOfWhatsAppId } from './whatsapp-numbers.ts'

export interface InboundMessageDeps extends ReserveMessageDeps {
  keyring: Pick<Keyring, 'seal' | 'unseal' | 'indexes'>
  broker: Pick<Broker, 'publish'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'messagesReceived'>
  apps: Pick<Cache<CachedApp | null>, 'get'>
  otps: Pick<Docs<OtpDoc>, 'find'>
  commit: Commit
}

type MessageCommand = Extract<OtpCommand, { type: 'message.received' }>
type MessageReport = Extract<OtpReport, { type: 'message.received' }>
type ContactReport = Extract<OtpReport, { type: 'contact.received' }>
type UserReport = MessageReport | ContactReport

/** Which part of a verification a report is about: the reference of its link, and the user to ask, if they hide their number. */
type Subject = (doc: OtpDoc, new_delivery_id: string) => Pick<MessageCommand, 'reference' | 'writer'>

/** A recipient who was asked for their number has no more verifications that wait for the answer. */
const MAX_ASKED = 20

const ACTED_UPON = 'acted_upon'
const OUTCOME_OF_REFUSAL: Partial<Record<ErrorType, string>> = {
  InsufficientFundsError: 'no_funds',
  GeoBlockedError: 'geo_blocked',
}

/** The answer is recorded as a delivery that failed. */
const withUnpaid = (command: MessageCommand): MessageCommand => ({
  ...command,
  unpaid: { event_id: eventIdFor(command.new_delivery_id, command.at) },
})

export const createReceiveMessage = (deps: InboundMessageDeps) => {
  const { broker, keyring, clock, log, metrics, apps, otps, funds, commit } = deps

  /** Returns the outcome for the log and the metric. */
  async function applyMessage(
    id: string,
    doc: OtpDoc,
    report: MessageReport,
    trace: Trace | undefined,
  ): Promise<string> {
    const { app_id, mode, sealed_from, references } = report
    const from = keyring.unseal(sealed_from, inFlight.from)
    const user_id = from === '' ? userIdIn(report) : null
    if (doc.app_id !== app_id || doc.mode !== mode) return 'stranger'
    // An attacker can send the link to another person, so only a message from the recipient's own number counts.
    if (user_id === null && !isRecipient(doc, from)) return 'stranger'
    // A text may hold several references. The one that counts is that of the verification's current link.
    return apply(id, doc, report, trace, ({ context: { link } }, new_delivery_id) => ({
      reference: references.find(reference => reference === link?.reference) ?? '',
      ...(user_id === null ? {} : { writer: keyring.seal(user_id, atRest.writer(new_delivery_id)) }),
    }))
  }

  async function applyContact(
    id: string,
    doc: OtpDoc,
    report: ContactReport,
    trace: Trace | undefined,
  ): Promise<string> {
    const user_id = keyring.unseal(report.sealed_user_id, inFlight.userId)
    return apply(id, doc, report, trace, ({ context }) => ({
      reference: (wasAsked(context, user_id) && context.link?.reference) || '',
    }))
  }

  const isRecipient = (doc: OtpDoc, from: string): boolean =>
    numberOfWhatsAppId(from) === keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))

  const userIdIn = ({ sealed_user_id }: MessageReport): string | null =>
    sealed_user_id === undefined ? null : keyring.unseal(sealed_user_id, inFlight.userId)

  /** For the contact, by the message that the current link is for. */
  const wasAsked = ({ deliveries, generation, link }: Otp, user_id: string): boolean =>
    link !== null &&
    deliveries.some(
      ({ delivery_id, generation: of, writer }) =>
        of === generation && writer !== undefined && keyring.unseal(writer, atRest.writer(delivery_id)) === user_id,
    )

  async function apply(
    id: string,
    doc: OtpDoc,
    { app_id, at }: UserReport,
    trace: Trace | undefined,
    subject: Subject,
  ): Promise<string> {
    if ((await apps.get(app_id))?.companyClosed) return 'company_closed'
    const prices = await funds.pricesFor(doc.context, doc.context.recipient)
    const command = (current: OtpDoc): MessageCommand => {
      const new_delivery_id = newId('dlv', clock.now())
      const event_id = eventIdFor(doc._id, at)
      return {
        id: `${id}:${doc._id}`,
        type: 'message.received',
        at,
        prices,
        event_id,
        new_delivery_id,
        ...subject(current, new_delivery_id),
      }
    }
    const committed = await commit(doc._id, null, {
      trace,
      command,
      reserve: async (next, doc) => reserveMessage(deps, await apps.get(doc.app_id), next, doc),
    })
    if (committed === null) return 'unknown_reference'
    if ('refusal' in committed && isUnpaid(committed.refusal))
      await commit(doc._id, null, { trace, command: current => withUnpaid(command(current)) })
    if ('refusal' in committed) return OUTCOME_OF_REFUSAL[committed.refusal.error] ?? 'too_many_messages'
    if (committed.reply.kind !== 'noted' || !committed.reply.changed) return 'too_late'
    if (committed.doc.value === 'approved') publishApprovalNotice(committed.doc, trace)
    return ACTED_UPON
  }

  /** Not an effect in the outbox: if this message is lost, the user only misses a thank-you. */
  function publishApprovalNotice({ _id: otp_id, mode }: OtpDoc, trace: Trace | undefined): void {
    if (mode === 'test') return
    const body: ApprovalNoticeBody = { otp_id, approved: true }
    broker
      .publish(channelQueue('whatsapp'), { id: `${otp_id}:approved`, body, ...withTrace(trace) })
      .catch(error => log.debug({ err: error, otp_id, ...requestOf({ trace }) }, 'approval_notice.not_sent'))
  }

  async function receiveMessage(id: string, report: MessageReport, trace: Trace | undefined): Promise<void> {
    const { references } = report
    const findOtps = async (options: ReadOptions = {}): Promise<OtpDoc[]> =>
      references.length === 0
        ? []
        : otps.find(
            { reference: { $in: references } },
            { sort: { reference: 1 }, limit: references.length, ...options },
          )
    const first = await findOtps()
    // Key rotation may change the index of a reference during the search, and a primary of the store that was cut off
    // may answer from before the link was made. The second search then finds it.
    const matches = first.length > 0 ? first : await findOtps({ certain: true })
    const request = requestOf({ trace })
    for (const doc of matches)
      recordOutcome(report, await applyMessage(id, doc, report, trace), { ...request, otp_id: doc._id })
    if (matches.length === 0) recordOutcome(report, 'unknown_reference', request)
  }

  async function receiveContact(id: string, report: ContactReport, trace: Trace | undefined): Promise<void> {
    const number = numberOfWhatsAppId(keyring.unseal(report.sealed_from, inFlight.from))
    const user_id = keyring.unseal(report.sealed_user_id, inFlight.userId)
    const recent = await otps.find(
      { recipient: { $in: recipientIndexes(keyring, report, number) } },
      { sort: { recipient: 1, _id: -1 }, limit: MAX_ASKED, certain: true },
    )
    const asked = recent.filter(({ context }) => wasAsked(context, user_id))
    const request = requestOf({ trace })
    for (const doc of asked)
      recordOutcome(report, await applyContact(id, doc, report, trace), { ...request, otp_id: doc._id })
    if (asked.length === 0) recordOutcome(report, 'not_asked', request)
  }

  /** A message that changes nothing is logged as a warning: it may come from a person who was tricked into approving a sign-in. */
  function recordOutcome({ app_id, mode }: UserReport, outcome: string, known: object): void {
    metrics.messagesReceived.inc({ mode, outcome })
    const fields = { ...known, app_id, outcome }
    if (outcome === ACTED_UPON) log.info(fields, 'message.received')
    else log.warn(fields, 'message.ignored')
  }

  return (id: string, report: UserReport, trace: Trace | undefined): Promise<void> =>
    report.type === 'contact.received' ? receiveContact(id, report, trace) : receiveMessage(id, report, trace)
}
