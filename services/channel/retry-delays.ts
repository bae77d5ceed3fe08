// For which of the queue's delays a message is returned to the broker. In: the delays, and how long the message should wait. Out: one of the
// delays; the time itself where none fits, for which the broker takes the next longer one.

/** The longest delay that is not longer than `ms`: too early costs one more look, too late makes a user wait. */
export function delayUpTo(delays: readonly number[], ms: number): number {
  const short = delays.filter(delay => delay <= ms)
  return short.length === 0 ? ms : Math.max(...short)
}

/** The next shorter or the next longer delay, so that the mean of many is `ms`, and messages that were returned together do not come back
 *  together. `draw` is a random number from 0 up to 1. */
export function delayAround(delays: readonly number[], ms: number, draw: number): number {
  const shorter = delayUpTo(delays, ms)
  const longer = Math.min(...delays.filter(delay => delay > ms))
  return draw * (longer - shorter) < ms - shorter ? longer : shorter
}
