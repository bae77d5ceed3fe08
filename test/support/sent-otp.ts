// A verification that an OTP actor has sent for `app_1`, as it is stored, and what its channel reports of it.
import type { CountersignStore } from '../../services/domain/collections.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import type { OtpReport } from '../../services/domain/verifications/queue-messages.ts'
import type { TestActor } from './otp.actor.ts'

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
