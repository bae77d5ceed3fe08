// How a promise stands, without waiting for it.
export interface PromiseState {
  state: 'pending' | 'resolved' | 'rejected'
  /** What it resolved with, or was rejected with. */
  value?: unknown
}

export function promiseState(promise: Promise<unknown>): PromiseState {
  const followed: PromiseState = { state: 'pending' }
  promise.then(
    value => Object.assign(followed, { state: 'resolved', value }),
    error => Object.assign(followed, { state: 'rejected', value: error }),
  )
  return followed
}
