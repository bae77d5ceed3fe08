// Tests that count by the hour or by the day. Where the period of the clock ends within a test, the clock goes on to the next one first.
import type { Clock } from '../../infra/clock.ts'

const LONGEST_TEST_MS = 120_000

/** Call it in a suite. */
export function keepEachTestWithin(
  periodMs: number,
  flow: { clock: Pick<Clock, 'now'>; advance(ms: number): Promise<unknown> },
): void {
  beforeEach(async () => {
    const leftMs = periodMs - (flow.clock.now() % periodMs)
    if (leftMs < LONGEST_TEST_MS) await flow.advance(leftMs)
  })
}
