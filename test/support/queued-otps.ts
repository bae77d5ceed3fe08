// Verifications in a store, as the OTP actor leaves them there before they are delivered.
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { partitionOf } from '../../infra/partitions.ts'
import { step } from '../../machines/otp.step.ts'
import type { Delivery } from '../../machines/otp.ts'
import type { SavedOtp } from '../../machines/otp.versions.ts'
import { verificationView } from '../../machines/otp.view.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { atRest } from '../../services/domain/verifications/encryption-context.ts'
import { owedDelivery } from '../../services/domain/verifications/owed.ts'
import type { DeliverBody } from '../../services/domain/verifications/queue-messages.ts'
import { type StartOptions, start } from './otp.ts'

export const RECIPIENT = '+447700900123'
const SALT = 'salt of a test'

export interface StoreContext {
  store: CountersignStore
  keyring: Keyring
  clock: Pick<Clock, 'now'>
}

export type OtpOptions = Omit<StartOptions, 'recipient'> & { recipient?: string }

/** Creates a company, `cmp_acme`, with the app `app_shop` ("Shop"); `app` adds settings and providers. */
export async function createTenant({ store, keyring, clock }: StoreContext, app: object = {}): Promise<void> {
  const apps = [{ id: 'app_shop', name: 'Shop', ...app }]
  const file = readBootstrap(JSON.stringify({ companies: [{ id: 'cmp_acme', name: 'Acme', apps }] }))
  await applyBootstrap(file, { store, keyring, clock })
}

/** A verification by a test key of that app; `options` replace parts of it. */
export function newOtpDocument(
  { keyring, clock }: Omit<StoreContext, 'store'>,
  { recipient = RECIPIENT, ...options }: OtpOptions = {},
): OtpDoc {
  const at = clock.now()
  const otp_id = newId('otp', at)
  const { saved } = step(
    null,
    start({
      at,
      otp_id,
      company_id: 'cmp_acme',
      app_id: 'app_shop',
      mode: 'test',
      delivery_id: newId('dlv', at),
      recipient: {
        kind: recipient.includes('@') ? 'email' : 'phone',
        sealed: keyring.seal(recipient, atRest.recipient(otp_id)),
        index: 'index',
        masked: 'masked',
        country: null,
      },
      code: {
        secret: keyring.currentCodeSecret(),
        salt: keyring.seal(SALT, atRest.salt({ otp_id, app_id: 'app_shop' })),
        length: 6,
      },
      ...options,
    }),
  )
  return documentOf(saved, at)
}

export function documentOf(saved: SavedOtp, at: number): OtpDoc {
  const { otp_id, company_id, app_id, mode, recipient } = saved.context
  const owed = owedDelivery(saved.context)
  return {
    _id: otp_id,
    company_id,
    app_id,
    mode,
    recipient: recipient.index,
    rev: 1,
    ...saved,
    created_at: at,
    ...(owed ? { owed_at: at, owed_channel: owed.channel } : {}),
    partition: partitionOf(otp_id),
    outbox: [],
    outbox_at: null,
    first: verificationView(saved, at),
    purge_at: new Date(at + 30 * 86_400_000),
  }
}

export async function insertOtp(context: StoreContext, options: OtpOptions = {}): Promise<OtpDoc> {
  const doc = newOtpDocument(context, options)
  await context.store.docs('otps').insert([doc])
  return doc
}

export const lastDelivery = ({ context }: Pick<OtpDoc, 'context'>): Delivery => {
  const delivery = context.deliveries.at(-1)
  if (!delivery) throw new Error('the verification has no delivery')
  return delivery
}

/** As if a process had called the provider and died before it saved the result. */
export const insertUnfinishedAttempt = (
  { store, clock }: Pick<StoreContext, 'store' | 'clock'>,
  doc: OtpDoc,
  provider: string,
) => {
  const { delivery_id, channel } = lastDelivery(doc)
  const owner = { otp_id: doc._id, app_id: doc.app_id, purge_at: doc.purge_at }
  const call = { delivery_id, channel, provider, round: 1, at: clock.now(), result: null, reference: null }
  return store.docs('attempts').insert([{ _id: `${delivery_id}:${provider}`, ...owner, ...call, rev: 1 }])
}

/** The message that the outbox puts on the channel's queue. */
export function deliverBody(doc: OtpDoc): DeliverBody {
  const { delivery_id, generation } = lastDelivery(doc)
  const { company_id, app_id, mode } = doc
  return { otp_id: doc._id, delivery_id, generation, ...(mode === 'live' ? { live: { company_id, app_id } } : {}) }
}

export const codeOf = ({ keyring }: Pick<StoreContext, 'keyring'>, { context }: OtpDoc): string => {
  const { otp_id, code } = context
  if ('given' in code) throw new Error('the code of a message is not derived')
  const { secret, length } = code
  return keyring.code(secret, { otpId: otp_id, generation: lastDelivery({ context }).generation, salt: SALT, length })
}
