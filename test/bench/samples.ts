// A document as large as the product's.
import type { RevisedDoc } from '../../infra/store/docs.ts'

export interface Sample extends RevisedDoc {
  app_id: string
  recipient: string
  created_at: number
  value: string
  context: Record<string, unknown>
  last_commands: string[]
}

const sealed = (bytes: number): string => 'c2VhbGVk'.repeat(bytes / 6)

export const sample = (number: number): Sample => ({
  _id: `otp_${number.toString(36).padStart(20, '0')}`,
  rev: 0,
  app_id: 'app_0123456789abcdef',
  recipient: `r${number.toString(36).padStart(20, '0')}`,
  created_at: number,
  value: 'pending',
  context: { code: sealed(48), salt: sealed(24), channel: 'sms', order: ['sms', 'whatsapp'], attempts: 0, sends: 1 },
  last_commands: [],
})
