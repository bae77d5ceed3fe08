// How a promise stands, without waiting for it.
export interface Followed {
  state: 'pending' | 'resolved' | 'rejected'
  /** What it resolved with, or was rejected with. */
  value?: unknown
}

export function follow(promise: Promise<unknown>): Followed {
  const followed: Followed = { state: 'pending' }
  promise.then(
    value => Object.assign(followed, { state: 'resolved', value }),
    error => Object.assign(followed, { state: 'rejected', value: error }),
  )
  return followed
}
