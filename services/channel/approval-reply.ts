// Thanks a user in the chat whose own message has approved the verification. In: the id of the verification. Out: always `done`: the reply
// is tried once, with the first provider that can reply, and nothing depends on it.
import { done, type Outcome } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { type Trace, withTrace } from '../../infra/trace.ts'
import { chooseLocale } from '../../machines/locale.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { approvedText, LANGUAGES } from '../domain/texts/message-text.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { atRest } from '../domain/verifications/encryption-context.ts'
import type { ApprovalNoticeBody } from '../domain/verifications/queue-messages.ts'
import type { ProviderGates } from './admission/provider-gates.ts'
import type { CallProvider } from './call-provider.ts'
import { type Candidates, mayCall } from './candidates.ts'
import type { DeliveryJob } from './provider.ts'

export interface ApprovalReplyDeps {
  otps: Pick<Docs<OtpDoc>, 'get'>
  apps: Pick<Cache<TenantApp | null>, 'get'>
  candidates: Pick<Candidates, 'of'>
  gates: Pick<ProviderGates, 'admit'>
  callProvider: CallProvider
  keyring: Pick<Keyring, 'unseal'>
}

export type SendApprovalReply = (body: ApprovalNoticeBody, trace: Trace | undefined) => Promise<Outcome>

export const createSendApprovalReply =
  ({ otps, apps, candidates, gates, callProvider, keyring }: ApprovalReplyDeps): SendApprovalReply =>
  async ({ otp_id }, trace) => {
    const doc = await getOne(otps, otp_id)
    const app = doc && (await apps.get(doc.app_id))
    if (!doc || !app) return done()
    const { context: otp } = toCurrentVersion(doc)
    const job = { ...approvalJob(doc), ...withTrace(trace) }
    const candidate = (await candidates.of(job)).find(one => one.provider.reply && mayCall(one, job))
    if (otp.approval?.by !== null || !candidate) return done()
    const locale = chooseLocale(otp.locale, app.settings.locale, LANGUAGES)
    const recipient = keyring.unseal(otp.recipient.sealed, atRest.recipient(otp_id))
    const permit = await gates.admit({
      company_id: otp.company_id,
      app_id: otp.app_id,
      name: candidate.name,
      type: candidate.type,
    })
    if (permit === 'shut' || 'busyMs' in permit) return done()
    const message = {
      job,
      delivery_id: job.delivery.delivery_id,
      expires_at: otp.expires_at,
      recipient,
      locale,
      requested_locale: otp.locale,
      text: approvedText(locale, app.name),
      subject: null,
      html: null,
      code: '',
    }
    const isWanted = async (): Promise<boolean> => (await getOne(otps, otp_id, { certain: true })) !== undefined
    await callProvider({ candidate, message, round: 1, call: 1, permit, isWanted })
    return done()
  }

/** The verification has no delivery with this id, so reports about it change nothing. The id makes it an attempt like any other, which
 *  is made once. */
function approvalJob(doc: OtpDoc): DeliveryJob {
  const { context: otp, _id, purge_at } = doc
  const at = otp.approval?.at ?? 0
  return {
    otp,
    delivery: {
      delivery_id: `${_id}:approved`,
      channel: 'whatsapp',
      generation: 0,
      status: 'queued',
      micros: 0,
      created_at: at,
      updated_at: at,
    },
    purge_at,
  }
}
