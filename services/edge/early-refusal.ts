// Refuses calls because of overload before Koa sees them. In: a request whose API key was accepted a moment ago. Out: the refusal that the
// router would answer it with, if its company's servers may make no further call now, else a place in which the call waits for its turn.
// Devices are refused by the router, which first checks from which page they call, and so is every request that it would answer in
// another way.
import type { IncomingMessage } from 'node:http'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { EarlyRefusal, RefuseEarly } from '../../infra/http/early-refusals.ts'
import type { Problem } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import type { Admission } from '../domain/admission.ts'

/** A path of calls. All have the method POST. */
export interface CallPath {
  /** Those that the router adds to each of its answers to a server key. */
  headers: Record<string, string>
  onRefused(by: Identity, requestId: string, error: Problem): void
}

export interface EarlyRefusalDeps {
  admission: Pick<Admission, 'refusalFor' | 'reserve'>
  clock: Pick<Clock, 'now'>
}

export interface OverloadRefusals {
  /** Called for each API key that was accepted. Those of servers are remembered. */
  remember(authorization: string, by: Identity): void
  addPath(path: string, called: CallPath): void
  refuse: RefuseEarly
  /** Whether admission was asked about this request a moment ago, when its turn came. */
  hasAdmitted(request: IncomingMessage): boolean
}

/** Short, so that a revoked key is soon refused for that reason. */
const REMEMBERED_MS = 1_000
const MAX_REMEMBERED = 10_000
/** Longer than any key. A header may hold any number of spaces. */
const MAX_HEADER_LENGTH = 300

export function createEarlyRefusal({ admission, clock }: EarlyRefusalDeps): OverloadRefusals {
  const paths = new Map<string, CallPath>()
  const admitted = new WeakSet<IncomingMessage>()
  const accepted = createBoundedMap<{ by: Identity; until: number }>(MAX_REMEMBERED)

  function recentServer(authorization: string): Identity | null {
    const known = accepted.get(authorization)
    return known !== undefined && clock.now() < known.until ? known.by : null
  }

  return {
    remember(authorization, by) {
      if (by.kind !== 'server' || authorization.length > MAX_HEADER_LENGTH) return
      accepted.set(authorization, { by, until: clock.now() + REMEMBERED_MS })
    },
    addPath: (path, called) => void paths.set(path, called),
    hasAdmitted: request => admitted.has(request),
    refuse(request) {
      const { method, url = '', headers } = request
      const { authorization = '' } = headers
      const path = pathOf(url)
      const called = method === 'POST' ? paths.get(path) : undefined
      const by = called === undefined ? null : recentServer(authorization)
      if (called === undefined || by === null) return null
      const refusal = (): EarlyRefusal | null => {
        const failure = admission.refusalFor(by)
        if (failure === null) return null
        return {
          failure,
          route: path,
          headers: called.headers,
          fields: { app_id: by.app_id, key_id: by.key_id },
          record: requestId => called.onRefused(by, requestId, failure),
        }
      }
      const refused = refusal()
      if (refused !== null) return refused
      const release = admission.reserve(by)
      return {
        begin() {
          release()
          const refusedNow = refusal()
          if (refusedNow === null) admitted.add(request)
          return refusedNow
        },
      }
    },
  }
}

/** As the router matches it: without a query and a slash at its end. */
const pathOf = (url: string): string => (url.split('?', 1)[0] ?? '').replace(/\/$/, '')
