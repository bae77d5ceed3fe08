// An app, `app_1`, the calls of its server, a verification that an OTP actor has sent for it, as it is stored, and what its channel reports.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import type { CallOf, Identity, OtpAnswer } from '../../machines/calls.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { inFlight } from '../../services/domain/verifications/encryption-context.ts'
import { codeOf } from '../../services/domain/verifications/message-content.ts'
import type { OtpReport } from '../../services/domain/verifications/queue-messages.ts'
import type { TestActor } from './otp.actor.ts'

export const addApp = (store: CountersignStore, settings: object = {}, _id = 'app_1'): Promise<unknown> =>
  store.docs('apps').insert([{ _id, company_id: 'cmp_1', name: 'Shop', settings, created_at: 0, rev: 0 }])

/** The key of its server. */
export const SERVER: Identity = {
  company_id: 'cmp_1',
  app_id: 'app_1',
  mode: 'test',
  key_id: 'key_server',
  kind: 'server',
}

/** A call as the edge hands it over, without anything that a caller may leave out. */
export const sendCall = (
  keyring: Keyring,
  recipient: string,
  { at = 0, ...more }: Partial<CallOf<'otp.send'>> & { at?: number } = {},
): CallOf<'otp.send'> => ({
  type: 'otp.send',
  by: SERVER,
  otp_id: newId('otp', at),
  sealed_recipient: keyring.seal(recipient, inFlight.recipient),
  locale: null,
  sealed_client_ip: null,
  claim: null,
  ...more,
})

/** Brings the right code. */
export async function verifyOtp(
  { ask }: TestActor,
  { store, keyring }: { store: CountersignStore; keyring: Keyring },
  otp_id: string,
  by = SERVER,
): Promise<OtpAnswer> {
  const code = codeOf(keyring, (await storedOtp(store, otp_id)).context)
  return ask({ type: 'otp.verify', by, otp_id, sealed_code: keyring.seal(code, inFlight.code) })
}

export interface SentOtp {
  otp_id: string
  delivery_id: string
}

export async function storedOtp(store: CountersignStore, otp_id: string): Promise<OtpDoc> {
  const doc = (await store.docs('otps').get([otp_id])).get(otp_id)
  if (!doc) throw new Error('it is gone')
  return doc
}

export async function sendOtp(actor: TestActor, store: CountersignStore): Promise<SentOtp> {
  const { otp_id } = await actor.send({ company: 'cmp_1', app: 'app_1', recipient: '+14155550123' })
  const [delivery] = (await storedOtp(store, otp_id)).context.deliveries
  return { otp_id, delivery_id: delivery?.delivery_id ?? '' }
}

/** `at`: when it happened; now, unless it is given. */
export function reportStatus(
  { broker, clock }: TestActor,
  { otp_id, delivery_id }: SentOtp,
  status: 'sent' | 'delivered' | 'failed',
  at = clock.now(),
): Promise<void> {
  const body: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, at }
  return broker.publish('otp.reports', { id: `${delivery_id}:${status}`, body })
}

export const addEndpoint = (store: CountersignStore): Promise<unknown> =>
  store.docs('webhooks').insert([{ _id: 'app_1', url: 'https://shop.example', status: 'active', secrets: [], rev: 0 }])
