// What a trial of settings is about.
import type { AppSettings } from '../../../machines/settings.ts'

export interface TrialInput {
  app_id: string
  saved: AppSettings
  tried: AppSettings
  since: number
  until: number
  now: number
  app_created_at: number
}

/** A guard that only records decides nothing. */
export const usesGuard = ({ saved, tried }: TrialInput): boolean =>
  [saved, tried].some(({ fraud_guard }) => fraud_guard.mode === 'on')
