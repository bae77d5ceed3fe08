// The circuit breaker of a provider as the admin API shows it. In: the reports of the channel's processes. Out: the worst of their states,
// since when, and how many processes say so; null when none has reported lately.

import { isoTime } from '../../../infra/iso-time.ts'
import { BREAKER_STATES, type BreakerDoc } from '../../domain/breakers/documents.ts'
import type { ProviderAnswer } from './schemas.ts'

export function breakerView(
  reports: readonly BreakerDoc[],
  { name }: Pick<ProviderAnswer, 'name'>,
): ProviderAnswer['breaker'] {
  const own = reports.filter(({ provider }) => provider === name)
  const state = BREAKER_STATES.findLast(one => own.some(report => report.state === one))
  if (state === undefined) return null
  const worst = own.filter(report => report.state === state)
  return { state, since: isoTime(Math.min(...worst.map(({ since }) => since))), processes: worst.length }
}
