// Entries of the ledger for tests that care about names and amounts alone.
import { type Entry, holdEntry } from '../../services/domain/money/documents.ts'

export const PAID_MESSAGE = { app_id: 'app_1', channel: 'sms', country: 'GB' } as const

export const hold = (otp_id: string | null, delivery_id: string, micros: number): Entry =>
  holdEntry({ otp_id, delivery_id, micros, by: 'key_1', message: PAID_MESSAGE })
