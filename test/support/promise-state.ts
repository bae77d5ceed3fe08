// In: a promise. Out: its state, which can be read without waiting for it.
export interface PromiseState {
  state: 'pending' | 'resolved' | 'rejected'
  /** The value or the error, once it is settled. */
  value?: unknown
}

export function promiseState(promise: Promise<unknown>): PromiseState {
  const current: PromiseState = { state: 'pending' }
  promise.then(
    value => Object.assign(current, { state: 'resolved', value }),
    error => Object.assign(current, { state: 'rejected', value: error }),
  )
  return current
}
