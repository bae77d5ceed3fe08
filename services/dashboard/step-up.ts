// Step-up: some changes need more than a session. In: an operation that asks for it. Out: nothing, or 403 with the ways
// in which the person can prove again who they are (sign-in/step-up.ts). A proof is good for ten minutes, in its own
// session alone; signing in is one too. A call with an operator's token proves itself.
import type { Clock } from '../../infra/clock.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import { problem } from '../domain/errors.ts'
import { errorRefusal } from '../domain/openapi/refusals.ts'
import { type AdminRequest, type Principal, principalOf } from './access.ts'

export const STEP_UP_MS = 10 * MINUTE_MS

export type StepUpWay = 'passkey' | 'code' | 'token'

export interface StepUpDeps {
  clock: Pick<Clock, 'now'>
  /** The ways that the caller has, the best first. */
  stepUpWays(caller: Principal): Promise<StepUpWay[]>
}

export async function requireStepUp(request: AdminRequest, { clock, stepUpWays }: StepUpDeps): Promise<void> {
  const caller = principalOf(request)
  if (caller.session === null) return
  const { stepped_up_at } = caller.session
  if (clock.now() < stepped_up_at + STEP_UP_MS) return
  throw problem('StepUpRequiredError', {
    detail: 'Prove again who you are: POST /step-up. Then repeat the call.',
    members: { step_up: await stepUpWays(caller) },
  })
}

export const stepUpRefusal = errorRefusal(
  'StepUpRequiredError',
  'The session has not proved in the last ten minutes whose it is. Nothing was changed.',
  { step_up: ['passkey', 'code'] },
)
