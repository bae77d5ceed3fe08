// What a process knows of its own attempts and the store may not: which calls it is making now, which attempts it has not called for
// because the store did not answer, and results that the store did not take. In memory only: after a crash the store's word counts.
import type { AttemptResult } from '../domain/verifications/documents.ts'

export interface OwnAttempts {
  /** Makes a call, so that `callsEnded` waits for it. */
  track<T>(delivery_id: string, call: () => Promise<T>): Promise<T>
  /** Resolves once this process makes no call for the delivery. */
  callsEnded(delivery_id: string): Promise<void>
  /** The attempt may be in the store, but its provider was not called. */
  markUncalled(attempt_id: string): void
  isUncalled(attempt_id: string): boolean
  /** True for one caller, which then makes the call. */
  takeUncalled(attempt_id: string): boolean
  keepResult(attempt_id: string, result: AttemptResult): void
  resultOf(attempt_id: string): AttemptResult | undefined
}

/** The oldest are forgotten first. Then the store's word counts, as after a crash. */
const MAX_REMEMBERED = 10_000

export function createOwnAttempts(): OwnAttempts {
  const callsByDelivery = new Map<string, Promise<void>>()
  const uncalled = new Map<string, true>()
  const results = new Map<string, AttemptResult>()

  function remember<T>(known: Map<string, T>, attempt_id: string, value: T): void {
    known.delete(attempt_id)
    known.set(attempt_id, value)
    if (known.size > MAX_REMEMBERED) known.delete(known.keys().next().value as string)
  }

  return {
    async track(delivery_id, call) {
      let end = (): void => {}
      const ended = new Promise<void>(resolve => {
        end = resolve
      })
      const tracked = Promise.all([callsByDelivery.get(delivery_id), ended]).then(() => {
        if (callsByDelivery.get(delivery_id) === tracked) callsByDelivery.delete(delivery_id)
      })
      callsByDelivery.set(delivery_id, tracked)
      try {
        return await call()
      } finally {
        end()
      }
    },
    callsEnded: async delivery_id => callsByDelivery.get(delivery_id),
    markUncalled: attempt_id => remember(uncalled, attempt_id, true),
    isUncalled: attempt_id => uncalled.has(attempt_id),
    takeUncalled: attempt_id => uncalled.delete(attempt_id),
    keepResult: (attempt_id, result) => remember(results, attempt_id, result),
    resultOf: attempt_id => results.get(attempt_id),
  }
}
