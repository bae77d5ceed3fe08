// A trial of settings in words and sums. Pure.
import type { Schemas } from '../../api/client.ts'
import type { Tone } from '../../ui/badge.tsx'
import { type LimitScope, type RefusalType, refusalWords } from '../verifications/refusal-words.ts'

export const OUTCOMES: Readonly<Record<Schemas['TrialOutcome'], { label: string; tone: Tone }>> = {
  refused: { label: 'refused', tone: 'bad' },
  no_longer_refused: { label: 'let through', tone: 'good' },
  moved: { label: 'moved', tone: 'info' },
}

/** The scope of a limit says more than that a limit was reached. */
export const reasonOf = (type: RefusalType, scope: LimitScope | null): string => {
  const { title, means } = refusalWords(type, scope)
  return scope === null ? title : means.replace(/\.$/, '')
}

export const sumOf = (rows: readonly { count: number }[]): number => rows.reduce((sum, { count }) => sum + count, 0)

export const isUnchanged = ({ refused, no_longer_refused, moved }: Schemas['SettingsTrial']): boolean =>
  refused.length + no_longer_refused.length + moved.length === 0
