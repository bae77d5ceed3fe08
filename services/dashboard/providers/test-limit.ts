// Limits how often providers are tested: a test is a real message, for which the vendor may charge and which a person receives. In: the
// app, its company and the recipient of a test. Out: a function that ends the test, or a refusal: once an app or a recipient has had its
// tests of a time, or while two tests of the company are under way. Each process of the dashboard counts its own, in memory; a company's
// tests of a day are counted for all processes together (test-charge.ts). There is no await between asking and counting, so parallel tests
// cannot pass where only one may. A refused test is not counted.
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Clock } from '../../../infra/clock.ts'
import { createCounts } from '../../../infra/counts.ts'
import { rateLimited } from '../../../infra/http/problem.ts'
import { MINUTE_MS } from '../../../infra/time.ts'

export interface LimitedTest {
  app_id: string
  company_id: string
  recipient: string
}

interface Limit {
  keyOf(test: LimitedTest): string
  max: number
  withinMs: number
  detail: string
}

const LIMITS: readonly Limit[] = [
  {
    keyOf: test => test.app_id,
    max: 10,
    withinMs: MINUTE_MS,
    detail: 'The providers of an app are tested at most 10 times a minute.',
  },
  {
    keyOf: test => test.recipient,
    max: 3,
    withinMs: 10 * MINUTE_MS,
    detail: 'A recipient gets at most 3 test messages in 10 minutes.',
  },
]
const MAX_TRACKED = 10_000

/** A vendor that lets every call wait must not take the channel's processes from other companies. */
const MAX_UNDER_WAY = 2
const UNDER_WAY_WAIT_MS = 1_000

/** Counts a test, or throws. The answer is to be called when the test is over. */
export type BeginTest = (test: LimitedTest) => () => void

export function createTestLimit(clock: Pick<Clock, 'now'>): BeginTest {
  /** For each limit, the times of the latest tests by key. */
  const counted = LIMITS.map(limit => ({ ...limit, times: createBoundedMap<readonly number[]>(MAX_TRACKED) }))
  const underWay = createCounts()

  return test => {
    const { company_id } = test
    const now = clock.now()
    const scope = 'provider_test'
    for (const { keyOf, max, withinMs, detail, times } of counted) {
      const waitMs = (times.get(keyOf(test))?.at(-max) ?? Number.NEGATIVE_INFINITY) + withinMs - now
      if (waitMs > 0) throw rateLimited({ scope, detail, waitMs })
    }
    if (underWay.of(company_id) >= MAX_UNDER_WAY)
      throw rateLimited({
        scope,
        detail: `At most ${MAX_UNDER_WAY} tests of a company are under way at once.`,
        waitMs: UNDER_WAY_WAIT_MS,
      })
    for (const { keyOf, max, times } of counted) {
      const key = keyOf(test)
      times.set(key, [...(times.get(key) ?? []), now].slice(-max))
    }
    underWay.add(company_id, 1)
    return () => underWay.add(company_id, -1)
  }
}
