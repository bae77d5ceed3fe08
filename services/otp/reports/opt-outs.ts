// Handles what a recipient asked for: no more messages on a channel, or messages again. In: a report with a person's own
// message, or a vendor's refusal that says so. Out: a rule for every app to which it belongs, each with an entry in the audit
// log, and a line in the log.
//
// A person answers a sender, not an app. So it holds for every app of the company that sends from there by the same kind of
// provider; another company's apps are never touched, because the signature that proved the message is of this one alone.
import { createHash } from 'node:crypto'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import { isOptOutChannel } from '../../../machines/opt-out.ts'
import { toCurrentVersion } from '../../../machines/otp.versions.ts'
import type { AuditDoc } from '../../domain/audit.ts'
import type { OptOutInput, OptOuts } from '../../domain/recipients/opt-outs.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import { declarationOf } from '../../domain/tenancy/provider-types/list.ts'
import type { Tenancy, TenantProvider } from '../../domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest, inFlight } from '../../domain/verifications/encryption-context.ts'
import type { OtpReport } from '../../domain/verifications/queue-messages.ts'
import { numberOfWhatsAppId } from './whatsapp-numbers.ts'

export interface RecordOptOutDeps {
  optOuts: Pick<OptOuts, 'record'>
  tenancy: Pick<Tenancy, 'providersOf'>
  companyApps: Pick<Docs<App>, 'get' | 'find'>
  otps: Pick<Docs<OtpDoc>, 'get'>
  audit: Pick<Docs<AuditDoc>, 'insert'>
  keyring: Pick<Keyring, 'unseal'>
  log: Logger
  metrics: Pick<Metrics, 'messagesReceived'>
}

type OptOutReport = Extract<OtpReport, { type: 'opt_out.received' }>
type DeliveryReport = Extract<OtpReport, { type: 'delivery.reported' }>

/** As the audit log names the person, who has no account. */
const WHO = 'recipient'

type Heard = Omit<OptOutInput, 'company_id'>

export const createRecordOptOut = (deps: RecordOptOutDeps) => {
  const { optOuts, tenancy, companyApps, otps, audit, keyring, log, metrics } = deps

  /** The app first. In test mode the sandbox is no sender that apps could share. */
  async function appsOfSender({ app_id, mode, provider }: Heard): Promise<App[]> {
    const app = await getOne(companyApps, app_id, { certain: true })
    if (!app) return []
    if (mode === 'test' || provider === null) return [app]
    const own = (await tenancy.providersOf(app_id)).providers.find(({ name }) => name === provider)
    const sender = own && senderOf(own)
    if (sender === undefined) return [app]
    const apps = [app]
    for await (const other of scanAll(companyApps, { company_id: app.company_id })) {
      if (other._id === app_id) continue
      const { providers } = await tenancy.providersOf(other._id)
      if (providers.some(one => senderOf(one) === sender)) apps.push(other)
    }
    return apps
  }

  async function record(heard: Heard, trace: Trace | undefined): Promise<void> {
    const { id, mode, channel, provider, told_by, asked, at } = heard
    let changed = 0
    const apps = await appsOfSender(heard)
    for (const { _id: app_id, company_id } of apps) {
      const before = async (rule_id: string): Promise<void> => {
        // Ahead of the change, so that none is without an entry. Its id follows from the report: one that comes again makes no second.
        await audit.insert([
          {
            _id: auditId(at, `${id}:${rule_id}`),
            at,
            who: WHO,
            company_id,
            action: `recipient.${asked}`,
            target: rule_id,
            before: null,
            after: { app_id, mode, channel, told_by, provider },
            outcome: 'done',
          },
        ])
      }
      if ((await optOuts.record({ ...heard, app_id, company_id }, before)) !== null) changed += 1
    }
    metrics.messagesReceived.inc({ mode, outcome: asked })
    const { app_id } = heard
    log.info({ ...requestOf({ trace }), app_id, channel, provider, asked, told_by, changed }, 'recipient.opt_out')
  }

  return {
    async written(id: string, report: OptOutReport, trace: Trace | undefined): Promise<void> {
      const { app_id, mode, channel, provider, asked, at } = report
      const from = keyring.unseal(report.sealed_from, inFlight.from)
      // Some vendors leave the plus out.
      const recipient = channel === 'whatsapp' ? numberOfWhatsAppId(from) : `+${from.replace(/\D/g, '')}`
      await record({ id, app_id, mode, channel, provider, asked, recipient, told_by: 'message', at }, trace)
    },

    /** A vendor refused the message, or says in its receipt that it did. */
    async refused(id: string, report: DeliveryReport, trace: Trace | undefined): Promise<void> {
      const { otp_id, delivery_id, at, unsubscribed: provider } = report
      const doc = provider === undefined ? undefined : await getOne(otps, otp_id, { certain: true })
      if (!doc || provider === undefined) return
      const { context } = toCurrentVersion(doc)
      const delivery = context.deliveries.find(one => one.delivery_id === delivery_id)
      if (!delivery || !isOptOutChannel(delivery.channel)) return
      const { app_id, mode } = doc
      const recipient = keyring.unseal(context.recipient.sealed, atRest.recipient(otp_id))
      const { channel, created_at: since } = delivery
      await record(
        { id, app_id, mode, channel, provider, asked: 'stop', recipient, told_by: 'vendor', at, since },
        trace,
      )
    },
  }
}

export type RecordOptOut = ReturnType<typeof createRecordOptOut>

/** From where a provider sends; undefined where that is not declared. */
function senderOf({ type, channel, config }: TenantProvider): string | undefined {
  const { sender } = declarationOf(type)
  const values = config as unknown as Record<string, unknown>
  return sender && JSON.stringify([type, channel, ...sender.map(member => values[member] ?? null)])
}

const auditId = (at: number, name: string): string => {
  const digest = createHash('sha256').update(name).digest()
  return newId('aud', at, size => digest.subarray(0, size))
}
