// Handles the reports from `otp.reports`: receipts, users' messages, refunds, charges after a refund, and reminders that time is up. In:
// messages with one report or several. Out: an outcome for each message. A report becomes a command for the same commit as a client's call;
// a report that comes twice changes nothing the second time.
import {
  type DeliveredMessage,
  dead,
  done,
  type Outcome,
  retry,
  threw,
  unreadable,
} from '../../../infra/broker/broker.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { createMissingKeyReporter, isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { Refusal } from '../../../machines/calls.ts'
import { isLapsed } from '../../../machines/otp.code-life.ts'
import { idsOf } from '../../../machines/otp.ids.ts'
import type { OtpCommand } from '../../../machines/otp.step.ts'
import type { ResendInputs } from '../../../machines/otp.ts'
import { type Accounts, NoSuchCompany } from '../../domain/money/accounts.ts'
import { rechargeEntry, refundEntry } from '../../domain/money/documents.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { isReportMessage, type OtpReport } from '../../domain/verifications/queue-messages.ts'
import { eventIdFor, eventIdsFor } from '../../domain/webhooks/event-ids.ts'
import type { CachedApp, IsAskedFor } from '../apps.ts'
import type { Intent } from '../commit.ts'
import { type ResendInputsDeps, resendInputsFor, stoppedFor } from '../next-message/resend-inputs.ts'
import { isUnpaid, reserveMessage } from '../next-message/reserve-message.ts'
import { createReceiveMessage, type InboundMessageDeps } from './inbound-messages.ts'
import { createRecordOptOut, type RecordOptOutDeps } from './opt-outs.ts'

export interface ReportDeps extends InboundMessageDeps, Omit<RecordOptOutDeps, keyof InboundMessageDeps | 'optOuts'> {
  keyring: Keyring
  otps: InboundMessageDeps['otps'] & RecordOptOutDeps['otps']
  optOuts: RecordOptOutDeps['optOuts'] & ResendInputsDeps['optOuts']
  accounts: Pick<Accounts, 'enter'>
  isAskedFor: IsAskedFor
}

type Refund = Extract<OtpReport, { type: 'delivery.refunded' }>
type Recharge = Extract<OtpReport, { type: 'delivery.recharged' }>
type DeliveryReport = Extract<OtpReport, { type: 'delivery.reported' }>

/** `unpaid`: the fallback could not be paid, and is recorded as a delivery that failed. */
type Fallback = 'paid' | 'unpaid' | 'none'

const fallbackAfterRefusal = (refusal: Refusal): Fallback => (isUnpaid(refusal) ? 'unpaid' : 'none')

/** The store or the broker is away: soon, then less often. */
const retryMs = (attempt: number): number => (attempt <= 5 ? 1_000 : attempt <= 15 ? 5_000 : 30_000)

/** Among the outcomes of a bundle, one that brings it again comes before one that buries it. */
const OUTCOMES_THAT_WIN: readonly Outcome['kind'][] = ['retry', 'threw', 'dead']

/** For a report that cannot cause a fallback. */
const NO_RESEND_INPUTS: ResendInputs = { usable: [], new_delivery_id: '', link: null, prices: {} }

export const createReportHandler = (deps: ReportDeps) => {
  const { clock, log, apps, accounts, commit, isAskedFor } = deps
  const receive = createReceiveMessage(deps)
  const recordOptOut = createRecordOptOut(deps)
  const reportMissingKey = createMissingKeyReporter(deps)

  async function handleDelivery(id: string, report: DeliveryReport, trace: Trace | undefined): Promise<void> {
    // First, so that a fallback does not take the same channel.
    await recordOptOut.refused(id, report, trace)
    const { otp_id, status } = report
    const firstTry: Fallback = status === 'failed' ? 'paid' : 'none'
    const fallback = await commit(otp_id, null, deliveryIntent(id, report, firstTry, trace)).then(
      committed => (committed !== null && 'refusal' in committed ? fallbackAfterRefusal(committed.refusal) : firstTry),
      error => fallbackWithoutKey(error, otp_id, trace),
    )
    // The fallback was refused or lacks a key. The failure itself is still recorded.
    if (fallback !== firstTry) await commit(otp_id, null, deliveryIntent(id, report, fallback, trace))
  }

  function fallbackWithoutKey(error: unknown, otp_id: string, trace: Trace | undefined): Fallback {
    if (!isMissingKeyError(error)) throw error
    reportMissingKey(error, { otp_id, ...requestOf({ trace }) })
    return 'none'
  }

  function deliveryIntent(id: string, report: DeliveryReport, fallback: Fallback, trace: Trace | undefined): Intent {
    const { delivery_id, status, at } = report
    const commandWith = ({ usable, new_delivery_id, link, prices }: ResendInputs): OtpCommand => ({
      id,
      type: 'delivery.reported',
      at,
      delivery_id,
      status,
      provider: report.provider,
      reason: report.reason,
      vendor_code: report.vendor_code,
      vendor_text: report.vendor_text,
      because: report.because,
      may_have_gone: report.may_have_gone,
      event_id: eventIdFor(delivery_id, at),
      unpaid: fallback === 'unpaid' ? { event_id: eventIdFor(new_delivery_id, at) } : undefined,
      usable,
      new_delivery_id,
      link,
      prices,
    })
    if (fallback === 'none') return { trace, command: () => commandWith(NO_RESEND_INPUTS) }

    const appOf = async (doc: OtpDoc): Promise<CachedApp | null> =>
      doc.context.rules.auto_fallback ? apps.get(doc.app_id) : null
    return {
      trace,
      async command(doc) {
        // The report may be handled long after it came, and a verification that has expired since stays so.
        const app = isLapsed(doc.context, clock.now()) ? null : await appOf(doc)
        if (!app || app.companyClosed) return commandWith(NO_RESEND_INPUTS)
        const stopped = await stoppedFor(doc.context, deps)
        return commandWith(await resendInputsFor(doc.context, app, stopped, deps))
      },
      ...(fallback === 'paid'
        ? { reserve: async (next, doc) => reserveMessage(deps, await appOf(doc), next, doc) }
        : {}),
    }
  }

  /** The ledger ignores an entry that it has already. */
  async function bookRefund({ company_id, otp_id, delivery_id, micros }: Refund): Promise<void> {
    await accounts.enter(company_id, refundEntry(otp_id, delivery_id, micros))
  }

  /** The message of the refund may come later than this one, so the refund is entered here as well: then the company never pays twice at
   *  once. The ledger ignores entries that it has already. */
  async function bookRecharge({ company_id, otp_id, delivery_id, micros }: Recharge): Promise<void> {
    await Promise.all(
      [refundEntry, rechargeEntry].map(entry => accounts.enter(company_id, entry(otp_id, delivery_id, micros))),
    )
  }

  async function lapseCommand(id: string, { app_id, context }: OtpDoc): Promise<OtpCommand> {
    const at = clock.now()
    const event_ids = (await isAskedFor(app_id, 'otp.expired')) ? eventIdsFor(idsOf(context), at) : undefined
    return { id, type: 'otp.lapse', at, event_ids }
  }

  const applyReport = (id: string, report: OtpReport, trace: Trace | undefined): Promise<unknown> => {
    if (report.type === 'delivery.reported') return handleDelivery(id, report, trace)
    if (report.type === 'opt_out.received') return recordOptOut.written(id, report, trace)
    if (report.type === 'message.received' || report.type === 'contact.received') return receive(id, report, trace)
    if (report.type === 'delivery.refunded') return bookRefund(report)
    if (report.type === 'delivery.recharged') return bookRecharge(report)
    return commit(report.otp_id, null, { command: doc => lapseCommand(id, doc), trace })
  }

  /** Every report of a bundle is handled, even if another one fails. If the bundle comes again, only the failed ones change something. */
  async function handleMessage({ id, body, trace, attempt }: DeliveredMessage): Promise<Outcome> {
    if (!isReportMessage(body)) return unreadable('not a report')
    const all = body.type === 'reports' ? body.all : [{ id, report: body, trace }]
    const outcomes = await Promise.all(all.map(report => settleReport(report, attempt)))
    for (const kind of OUTCOMES_THAT_WIN) {
      const outcome = outcomes.find(one => one.kind === kind)
      if (outcome) return outcome
    }
    return done()
  }

  async function settleReport({ id, report, trace }: ReceivedReport, attempt: number): Promise<Outcome> {
    const fields = () => ({ message_id: id, type: report.type, ...requestOf({ trace }), ...subjectOf(report) })
    try {
      await applyReport(id, report, trace)
      if (log.writes('debug')) log.debug(fields(), 'report.handled')
      return done()
    } catch (error) {
      // It has no account any more, and nothing is owed to it.
      if (error instanceof NoSuchCompany) return done()
      if (error instanceof Unavailable) {
        log.warn({ ...fields(), why: error.message }, 'report.postponed')
        return retry(retryMs(attempt))
      }
      if (!isMissingKeyError(error)) {
        log.error({ ...fields(), err: error }, 'report.failed')
        return threw(error)
      }
      // A dead letter can be requeued once the key is back.
      reportMissingKey(error, fields())
      return dead(error.message)
    }
  }

  return (waiting: DeliveredMessage[]): Promise<Outcome[]> => Promise.all(waiting.map(handleMessage))
}

interface ReceivedReport {
  id: string
  report: OtpReport
  trace?: Trace | undefined
}

/** What a log line says of a report. A user's message names no verification: it is searched for. */
const subjectOf = (report: OtpReport): object => {
  if ('app_id' in report) return { app_id: report.app_id }
  if (report.type === 'otp.due') return { otp_id: report.otp_id }
  const { otp_id, delivery_id } = report
  return { otp_id, delivery_id, ...('status' in report ? { status: report.status } : {}) }
}
