// Limits how often the providers of one app are tested: a test is a real message, for which the vendor may charge. In: an app. Out: a refusal
// once ten tests were made within a minute. Each process of the dashboard counts its own. There is no await between asking and counting, so
// parallel tests cannot pass where only one may.
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Clock } from '../../../infra/clock.ts'
import { rateLimited } from '../../../infra/http/problem.ts'
import { MINUTE_MS } from '../../../infra/time.ts'

const MAX_TESTS_PER_MINUTE = 10
const MAX_TRACKED_APPS = 10_000

/** Counts a test of the app's providers, or throws. */
export type CountTest = (app_id: string) => void

export function createTestLimit(clock: Pick<Clock, 'now'>): CountTest {
  /** The times of an app's latest tests. */
  const tests = createBoundedMap<readonly number[]>(MAX_TRACKED_APPS)
  return app_id => {
    const now = clock.now()
    const latest = tests.get(app_id) ?? []
    const waitMs = (latest.at(-MAX_TESTS_PER_MINUTE) ?? Number.NEGATIVE_INFINITY) + MINUTE_MS - now
    if (waitMs > 0)
      throw rateLimited({
        scope: 'provider_test',
        detail: `The providers of an app are tested at most ${MAX_TESTS_PER_MINUTE} times a minute.`,
        waitMs,
      })
    tests.set(app_id, [...latest, now].slice(-MAX_TESTS_PER_MINUTE))
  }
}
