// Admission to the admin API. In: a call of a user, who is known. Out: the call has its turn, or is refused because the turn would come too late.
// The calls of a company take a small share of the event loop, and those of all companies a larger one, because the same process may serve
// sends. Operators are not held back: they have other means to stop the process.
import type { Middleware } from 'koa'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import { createLoopShares, type LoopShares } from '../../infra/loop-shares.ts'
import { type Admission, createAdmission } from '../domain/admission.ts'
import { notExecuted } from '../domain/errors.ts'
import { principalOf } from './access.ts'

const SHARE = { ofOne: 0.1, ofAll: 0.2 }
/** Admission refuses calls that would wait so long, once it knows how long they take. */
const MAX_WAIT_MS = 5_000
const RETRY_AFTER = { 'Retry-After': '5' }
/** What a screen asks for at once. */
const MIN_CALLS = 16

/** Of a company, which alone takes half of it. The bodies of calls that wait are not read yet. */
const MAX_IN_FLIGHT = 256
const MAX_COMPANIES = 1_000

export interface AdmitDeps {
  clock: Pick<Clock, 'now'>
  loopShares?: LoopShares | undefined
}

export function createAdmit({ clock, loopShares }: AdmitDeps): Middleware {
  // Each company has its own, because its calls wait for its own share and for no other company.
  const admissions = createBoundedMap<Admission>(MAX_COMPANIES)
  const tooLate = () => notExecuted('The company has called too much.', { headers: RETRY_AFTER, isPaced: true })
  const shares = loopShares ?? createLoopShares({ share: SHARE, maxWaitMs: MAX_WAIT_MS, tooLate })
  return async (ctx, next) => {
    const { company_id } = principalOf(ctx)
    if (company_id === null) return next()
    const begin = () =>
      shares.run(company_id, async () => {
        if (!ctx.writable) throw notExecuted('The caller hung up.')
        return next()
      })
    const admission =
      admissions.get(company_id) ?? createAdmission({ clock, maxInFlight: MAX_IN_FLIGHT, minCalls: MIN_CALLS })
    admissions.set(company_id, admission)
    return admission.call({ company_id, kind: 'server' }, begin)
  }
}
