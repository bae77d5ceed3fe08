// Why a webhook endpoint is not called, in words.
import type { components } from '../api/schema.ts'

export const PAUSE_REASONS: Readonly<Record<components['schemas']['PauseReason'], string>> = {
  exhausted: 'An event used up all its attempts, so your endpoint is no longer called.',
  gone: 'Your endpoint answered 410 Gone, which asks for no more calls.',
  failing: 'Your endpoint failed 100 times in a row, for more than an hour, so it is no longer called.',
  operator: 'Delivery was stopped by hand.',
}
