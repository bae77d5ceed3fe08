// News from outside, through the durable queue: what became of a delivery, what a user wrote, what time it is. Each becomes a
// command for the same load → step → save as a client's call. Said twice, it changes nothing the second time.
import { type Delivered, dead, done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log.ts'
import type { OtpDoc } from '../../infra/otps/documents.ts'
import { samePhone } from '../../infra/otps/phones.ts'
import { atRest, inFlight } from '../../infra/otps/sealing.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Fresh } from '../../machines/otp.ts'
import type { OtpReport, OtpReports } from '../../machines/reports.ts'
import type { KnownApp } from './apps.ts'
import type { Commit } from './commit.ts'
import { freshFor } from './fresh.ts'

export interface ReportParts {
  keyring: Keyring
  clock: Clock
  log: Logger
  apps: Cache<KnownApp | null>
  otps: Pick<Docs<OtpDoc>, 'find'>
  commit: Commit
}

const RETRY_MS = 1_000
/** Most news leads to no further delivery, and then nobody asks what one would need. */
const NOWHERE_TO_GO: Fresh = { usable: [], delivery_id: '', link: null }

export const reporting = (parts: ReportParts) => {
  const { keyring, clock, log, apps, otps, commit } = parts

  async function delivery(id: string, report: Extract<OtpReport, { type: 'delivery.reported' }>): Promise<void> {
    const { otp_id, delivery_id: reported_id, status, at } = report
    const event_id = newId('evt', clock.now())
    await commit(otp_id, null, {
      async command(doc) {
        const app = status === 'failed' && doc.context.rules.auto_fallback ? await apps.get(doc.app_id) : null
        const fresh = app ? freshFor(doc.context, app, parts) : NOWHERE_TO_GO
        return { ...fresh, id, type: 'delivery.reported', at, reported_id, status, event_id }
      },
    })
  }

  async function message(id: string, report: Extract<OtpReport, { type: 'message.received' }>): Promise<void> {
    const { app_id, mode, references, sealed_from, at } = report
    const from = keyring.unseal(sealed_from, inFlight.from)
    for (const reference of references) {
      const [doc] = await otps.find({ reference }, { sort: { reference: 1 }, limit: 1 })
      if (!doc) continue
      const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
      // Anyone can be sent a link and made to open it: only the recipient's own message counts.
      const theirs = doc.app_id === app_id && doc.mode === mode && samePhone(recipient, from)
      if (!theirs) {
        log.warn({ otp_id: doc._id, app_id }, 'message.ignored')
        continue
      }
      const fresh = { delivery_id: newId('dlv', clock.now()), event_id: newId('evt', clock.now()) }
      await commit(doc._id, null, {
        command: () => ({ ...fresh, id: `${id}:${doc._id}`, type: 'message.received', at, reference }),
      })
    }
  }

  const handle = (id: string, report: OtpReport): Promise<unknown> => {
    if (report.type === 'delivery.reported') return delivery(id, report)
    if (report.type === 'message.received') return message(id, report)
    return commit(report.otp_id, null, { command: () => ({ id, type: 'otp.lapse', at: clock.now() }) })
  }

  /** Each piece of news is handled, whatever becomes of the others; a bundle that comes again changes nothing it has changed. */
  async function handleAll(id: string, body: OtpReport | OtpReports): Promise<Outcome> {
    const all = body.type === 'reports' ? body.all : [{ id, report: body }]
    const outcomes = await Promise.all(all.map(one => outcomeOf(one.id, one.report)))
    return outcomes.find(({ kind }) => kind === 'retry') ?? outcomes.find(({ kind }) => kind === 'dead') ?? done()
  }

  async function outcomeOf(id: string, report: OtpReport): Promise<Outcome> {
    try {
      await handle(id, report)
      return done()
    } catch (error) {
      if (error instanceof Unavailable) return retry(RETRY_MS)
      log.error({ err: error, message_id: id }, 'report.failed')
      return dead(error instanceof Error ? error.message : String(error))
    }
  }

  return (waiting: Delivered[]): Promise<Outcome[]> =>
    Promise.all(waiting.map(({ id, body }) => handleAll(id, body as OtpReport | OtpReports)))
}
