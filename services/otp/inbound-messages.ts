// What a user wrote on WhatsApp. In: a report of it, its sender sealed. Out: the verification it names is approved, or its code is on its
// way, if the recipient wrote it in time; otherwise nothing changes, and that is on record.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { ErrorType } from '../../machines/errors.ts'
import type { OtpReport } from '../../machines/reports.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { type ApprovalNoticeBody, channelQueue } from '../domain/verifications/effect-messages.ts'
import { atRest, inFlight } from '../domain/verifications/encryption-context.ts'
import type { CachedApp } from './apps.ts'
import type { Commit } from './commit.ts'
import { samePhone } from './phones.ts'
import { type MessageDeps, reserveMessage } from './reserve-message.ts'

export interface InboundDeps extends MessageDeps {
  broker: Pick<Broker, 'publish'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'messagesReceived'>
  apps: Pick<Cache<CachedApp | null>, 'get'>
  otps: Pick<Docs<OtpDoc>, 'find'>
  commit: Commit
}

type MessageReport = Extract<OtpReport, { type: 'message.received' }>

const ACTED_UPON = 'acted_upon'
const OUTCOME_OF_REFUSAL: Partial<Record<ErrorType, string>> = {
  InsufficientFundsError: 'no_funds',
  GeoBlockedError: 'geo_blocked',
}

export const createReceiveMessage = (deps: InboundDeps) => {
  const { broker, keyring, clock, log, metrics, apps, otps, funds, commit } = deps

  /** What a message that names a verification comes to, in a word. */
  async function applyMessage(id: string, doc: OtpDoc, report: MessageReport): Promise<string> {
    const { app_id, mode, sealed_from, references, at } = report
    const from = keyring.unseal(sealed_from, inFlight.from)
    const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
    // Anyone can be sent a link and made to open it: only the recipient's own message counts.
    if (doc.app_id !== app_id || doc.mode !== mode || !samePhone(recipient, from)) return 'stranger'
    const event_id = newId('evt', clock.now())
    const prices = await funds.pricesFor(doc.mode, doc.context.recipient)
    const committed = await commit(doc._id, null, {
      // Of the references in the message the one it waits for now, if it is there.
      command: ({ context: { link } }) => ({
        id: `${id}:${doc._id}`,
        type: 'message.received',
        at,
        prices,
        event_id,
        reference: references.find(reference => reference === link?.reference) ?? '',
        delivery_id: newId('dlv', clock.now()),
      }),
      reserve: async (next, doc) => reserveMessage(deps, await apps.get(doc.app_id), next, doc),
    })
    if (committed === null) return 'unknown_reference'
    if ('refusal' in committed) return OUTCOME_OF_REFUSAL[committed.refusal.error] ?? 'too_many_messages'
    if (committed.reply.kind !== 'noted' || !committed.reply.changed) return 'too_late'
    if (committed.doc.value === 'approved') publishApprovalNotice(committed.doc)
    return ACTED_UPON
  }

  /** A courtesy, not an effect: should it get lost, nothing is missing. */
  function publishApprovalNotice({ _id: otp_id, mode }: OtpDoc): void {
    if (mode === 'test') return
    const body: ApprovalNoticeBody = { otp_id, approved: true }
    broker
      .publish(channelQueue('whatsapp'), { id: `${otp_id}:approved`, body })
      .catch(error => log.debug({ err: error, otp_id }, 'thanks.not_sent'))
  }

  async function receive(id: string, report: MessageReport): Promise<void> {
    const { references } = report
    const findOtps = async (): Promise<OtpDoc[]> =>
      references.length === 0
        ? []
        : otps.find({ reference: { $in: references } }, { sort: { reference: 1 }, limit: references.length })
    const first = await findOtps()
    // When keys rotate, a reference may change its index just as it is looked for. Then it is found the second time.
    const matches = first.length > 0 ? first : await findOtps()
    for (const doc of matches) recordOutcome(report, await applyMessage(id, doc, report), doc._id)
    if (matches.length === 0) recordOutcome(report, 'unknown_reference')
  }

  /** Whatever changes nothing is on record: a stranger's message may be somebody made to approve another's sign-in. */
  function recordOutcome({ app_id, mode }: MessageReport, outcome: string, otp_id?: string): void {
    metrics.messagesReceived.inc({ mode, outcome })
    const fields = { app_id, outcome, ...(otp_id === undefined ? {} : { otp_id }) }
    if (outcome === ACTED_UPON) log.info(fields, 'message.received')
    else log.warn(fields, 'message.ignored')
  }

  return receive
}
