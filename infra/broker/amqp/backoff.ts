// How long to wait before another try: doubled each time, capped, and random, so that many processes do not reconnect at once.

export interface Backoff {
  firstMs: number
  maxMs: number
}

export function backoffDelay({ firstMs, maxMs }: Backoff, failures: number): number {
  const full = Math.min(maxMs, firstMs * 2 ** failures)
  return full / 2 + Math.random() * (full / 2)
}
