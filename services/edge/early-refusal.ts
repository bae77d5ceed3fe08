// Refuses calls because of overload before Koa sees them. In: a request whose API key was accepted a moment ago. Out: the refusal that the
// router would answer it with, if its company's servers may make no further call now. Devices are refused by the router, which first checks
// from which page they call, and so is every request that it would answer in another way.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { RefuseEarly } from '../../infra/http/early-refusals.ts'
import type { Problem } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import type { Admission } from './admission.ts'

/** A route of calls. All have the method POST. */
export interface CallRoute {
  /** Those that the router adds to each of its answers to a server key. */
  headers: Record<string, string>
  onRefused(by: Identity, requestId: string, error: Problem): void
}

export interface EarlyRefusalDeps {
  admission: Pick<Admission, 'refusalFor' | 'expect'>
  clock: Pick<Clock, 'now'>
}

export interface EarlyRefusal {
  /** Called for each API key that was accepted. */
  remember(authorization: string, by: Identity): void
  addRoute(path: string, route: CallRoute): void
  refuse: RefuseEarly
}

/** Short, so that a revoked key is soon refused for that reason. */
const REMEMBERED_MS = 1_000
const MAX_REMEMBERED = 10_000

export function createEarlyRefusal({ admission, clock }: EarlyRefusalDeps): EarlyRefusal {
  const routes = new Map<string, CallRoute>()
  const accepted = createBoundedMap<{ by: Identity; until: number }>(MAX_REMEMBERED)

  function recentServer(authorization: string): Identity | null {
    const { by, until } = accepted.get(authorization) ?? { until: 0 }
    return by?.kind === 'server' && clock.now() < until ? by : null
  }

  return {
    remember(authorization, by) {
      accepted.set(authorization, { by, until: clock.now() + REMEMBERED_MS })
    },
    addRoute: (path, route) => void routes.set(path, route),
    refuse({ method, url = '', headers: { authorization = '' } }) {
      const route = method === 'POST' ? routes.get(url) : undefined
      const by = route === undefined ? null : recentServer(authorization)
      if (route === undefined || by === null) return null
      const failure = admission.refusalFor(by)
      if (failure === null) return { begin: admission.expect(by) }
      return {
        failure,
        route: url,
        headers: route.headers,
        fields: { app_id: by.app_id, key_id: by.key_id },
        record: requestId => route.onRefused(by, requestId, failure),
      }
    },
  }
}
