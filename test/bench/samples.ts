// Messages and documents as large as the product's.
import type { RevisedDoc } from '../../infra/store/docs.ts'
import { collection } from '../../infra/store/store.ts'

export interface Sample extends RevisedDoc {
  app_id: string
  recipient: string
  created_at: number
  value: string
  context: Record<string, unknown>
  last_commands: string[]
}

export const APP = 'app_0123456789abcdef'

const sealed = (bytes: number): string => 'c2VhbGVk'.repeat(bytes / 6)

export const CALL = { type: 'otp.send', app_id: APP, recipient: sealed(60), client_ip: sealed(48), locale: 'en' }

const spec = collection<Sample>({ indexes: [{ fields: { app_id: 1, recipient: 1, created_at: -1 } }] })

export const BENCH_COLLECTIONS = { inserted: spec, changed: spec, few: spec, many: spec }

export const sample = (number: number): Sample => ({
  _id: idOf(number),
  rev: 0,
  app_id: APP,
  recipient: recipientOf(number),
  created_at: number,
  value: 'pending',
  context: { code: sealed(48), salt: sealed(24), channel: 'sms', order: ['sms', 'whatsapp'], attempts: 0, sends: 1 },
  last_commands: [],
})

export const idOf = (number: number): string => `otp_${number.toString(36).padStart(20, '0')}`

export const recipientOf = (number: number): string => `r${number.toString(36).padStart(20, '0')}`
