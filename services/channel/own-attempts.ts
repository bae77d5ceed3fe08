// What a process knows of its own attempts and the store may not: which attempts it is making now, which attempts it has not called for
// because the store did not answer, and results that the store did not take. In memory only: after a crash the store's word counts.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { AttemptResult } from '../domain/verifications/documents.ts'

export interface OwnAttempts {
  /** Makes an attempt, from its record to its result, so that `ended` waits for it. */
  track<T>(delivery_id: string, attempt: () => Promise<T>): Promise<T>
  isUnderWay(delivery_id: string): boolean
  /** Resolves once this process makes no attempt for the delivery. */
  ended(delivery_id: string): Promise<void>
  /** The attempt may be in the store, but its provider was not called. */
  markUncalled(attempt_id: string): void
  isUncalled(attempt_id: string): boolean
  /** True for one caller, which then makes the call. */
  takeUncalled(attempt_id: string): boolean
  keepResult(attempt_id: string, result: AttemptResult): void
  resultOf(attempt_id: string): AttemptResult | undefined
}

/** The oldest are forgotten first. Then the store's word counts, as after a crash. A bounded map may keep only half of it. */
const MAX_REMEMBERED = 20_000

export function createOwnAttempts(): OwnAttempts {
  const underWay = new Map<string, Promise<void>>()
  const uncalled = createBoundedMap<true>(MAX_REMEMBERED)
  const results = createBoundedMap<AttemptResult>(MAX_REMEMBERED)
  const isUncalled = (attempt_id: string): boolean => uncalled.get(attempt_id) === true

  return {
    async track(delivery_id, attempt) {
      let end = (): void => {}
      const ended = new Promise<void>(resolve => {
        end = resolve
      })
      const tracked = Promise.all([underWay.get(delivery_id), ended]).then(() => {
        if (underWay.get(delivery_id) === tracked) underWay.delete(delivery_id)
      })
      underWay.set(delivery_id, tracked)
      try {
        return await attempt()
      } finally {
        end()
      }
    },
    isUnderWay: delivery_id => underWay.has(delivery_id),
    ended: async delivery_id => underWay.get(delivery_id),
    markUncalled: attempt_id => uncalled.set(attempt_id, true),
    isUncalled,
    takeUncalled(attempt_id) {
      const taken = isUncalled(attempt_id)
      uncalled.delete(attempt_id)
      return taken
    },
    keepResult: (attempt_id, result) => results.set(attempt_id, result),
    resultOf: attempt_id => results.get(attempt_id),
  }
}
