// A word of thanks in the chat, in the user's language, when their own message has approved. It is tried once, by the first provider
// that can answer, and nothing depends on it.
import { done, type Outcome } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { chooseLocale } from '../../machines/locale.ts'
import { current } from '../../machines/otp.versions.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { approvedText, LANGUAGES } from '../domain/texts/texts.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { ThankBody } from '../domain/verifications/effect-messages.ts'
import { atRest } from '../domain/verifications/sealing.ts'
import type { Gates } from './admission/gates.ts'
import type { MakeAttempt } from './attempt.ts'
import type { Candidates } from './candidates.ts'
import type { Errand } from './provider.ts'

export interface ThankParts {
  otps: Pick<Docs<OtpDoc>, 'get'>
  apps: Pick<Cache<TenantApp | null>, 'get'>
  candidates: Pick<Candidates, 'of'>
  gates: Pick<Gates, 'enter'>
  attempt: MakeAttempt
  keyring: Pick<Keyring, 'unseal'>
}

export type Thank = (body: ThankBody) => Promise<Outcome>

export const thanking =
  ({ otps, apps, candidates, gates, attempt, keyring }: ThankParts): Thank =>
  async ({ otp_id }) => {
    const doc = (await otps.get([otp_id])).get(otp_id)
    const app = doc && (await apps.get(doc.app_id))
    if (!doc || !app) return done()
    const { context: otp } = current(doc)
    const errand = errandOf(doc)
    const candidate = (await candidates.of(errand)).find(({ provider }) => provider.reply)
    if (otp.approval?.by !== null || !candidate) return done()
    const locale = chooseLocale(otp.locale, app.settings.locale, LANGUAGES)
    const recipient = keyring.unseal(otp.recipient.sealed, atRest.recipient(otp_id))
    const pass = await gates.enter({
      company_id: otp.company_id,
      app_id: otp.app_id,
      name: candidate.name,
      type: candidate.type,
    })
    if (pass === 'shut' || 'fullForMs' in pass) return done()
    const said = { text: approvedText(locale, app.name), subject: null, html: null, code: '' }
    await attempt(candidate, { errand, recipient, locale, ...said }, 1, pass)
    return done()
  }

/** No delivery of the verification, so whatever is reported of it changes nothing; claimed as one, so it is said once. */
function errandOf(doc: OtpDoc): Errand {
  const { context: otp, _id, purge_at } = doc
  const at = otp.approval?.at ?? 0
  const times = { created_at: at, updated_at: at }
  const delivery_id = `${_id}:approved`
  return {
    otp,
    delivery: { delivery_id, channel: 'whatsapp', generation: 0, status: 'queued', micros: 0, ...times },
    purge_at,
  }
}
