// Admission to the admin API. In: a call of a user, who is known. Out: the call has its turn, or is refused because the
// turn would come too late. The calls of a company take a small share of the event loop, half of it those that read and
// half those that change something, and the calls of all companies take a larger one, because the same process may
// serve sends. Operators are not held back: they have other means to stop the process.
import type { Middleware } from 'koa'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import { createLoopShares, type LoopShares } from '../../infra/loop-shares.ts'
import { type Admission, createAdmission } from '../domain/admission.ts'
import { notExecuted } from '../domain/errors.ts'
import { principalOf } from './access.ts'

/** `ofOne`: of the reads or of the changes of a company. */
const SHARE = { ofOne: 0.05, ofAll: 0.2 }
/** Admission refuses calls that would wait so long, once it knows how long they take. */
const MAX_WAIT_MS = 5_000
const RETRY_AFTER = { 'Retry-After': '5' }
/** What a screen asks for at once. */
const MIN_CALLS = 16

/** Of the reads or of the changes of a company, which alone takes half of it. The bodies of calls that wait are not read yet. */
const MAX_IN_FLIGHT = 256
const MAX_OWNERS = 2_000

const READ_METHODS = new Set(['GET', 'HEAD'])

export interface AdmitDeps {
  clock: Pick<Clock, 'now'>
  loopShares?: LoopShares | undefined
}

export function createAdmit({ clock, loopShares }: AdmitDeps): Middleware {
  // Each share has its own, because its calls wait for nothing else.
  const admissions = createBoundedMap<Admission>(MAX_OWNERS)
  // Not paced: its caller has waited long enough.
  const tooLate = () => notExecuted('The company has called too much.', { headers: RETRY_AFTER })
  const shares = loopShares ?? createLoopShares({ share: SHARE, maxWaitMs: MAX_WAIT_MS, tooLate })
  return async (ctx, next) => {
    const { company_id } = principalOf(ctx)
    if (company_id === null) return next()
    const owner = `${company_id} ${READ_METHODS.has(ctx.method) ? 'reads' : 'changes'}`
    const begin = () =>
      shares.run(owner, async () => {
        if (!ctx.writable) throw notExecuted('The caller hung up.')
        return next()
      })
    const admission =
      admissions.get(owner) ?? createAdmission({ clock, maxInFlight: MAX_IN_FLIGHT, minCalls: MIN_CALLS })
    admissions.set(owner, admission)
    return admission.call({ company_id, kind: 'server' }, begin)
  }
}
