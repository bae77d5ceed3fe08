// Facts about routes, as the sweeper stores them. In: what matters to a test. Out: the rest filled in, and the document of an app.
import { DAY_MS } from '../../infra/time.ts'
import type { Others, RouteFact } from '../../machines/routes.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'

export type GivenFact = Pick<RouteFact, 'provider'> &
  Partial<Omit<RouteFact, 'silence' | 'evidence'>> & {
    /** Since when it is silent. */
    silentSince?: number
    /** What the other routes do meanwhile. */
    others?: Others
  }

/** All of its messages are recent and judged. */
export function routeFact({ silentSince, others = 'well', ...given }: GivenFact): RouteFact {
  const { messages = 400, approved = 0 } = given
  return {
    kind: 'server',
    channel: 'sms',
    country: 'GB',
    delivered: messages,
    seconds_p50: 14,
    ...given,
    messages,
    approved,
    evidence: { approved, missed: messages - approved },
    silence: {
      score: 0,
      judged_until: 0,
      since: silentSince ?? null,
      ...(silentSince === undefined ? {} : { others }),
    },
  }
}

export async function storeFacts(
  store: Pick<CountersignStore, 'docs'>,
  app_id: string,
  at: number,
  given: readonly GivenFact[],
): Promise<void> {
  const doc = { _id: app_id, at, facts: given.map(routeFact), purge_at: new Date(at + 31 * DAY_MS), rev: 0 }
  await store.docs('route_facts').remove({ _id: app_id }, 1)
  await store.docs('route_facts').insert([doc])
}
