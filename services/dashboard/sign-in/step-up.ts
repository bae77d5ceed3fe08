// A signed-in person proves again who they are, so that their session may make the changes that need it
// (../step-up.ts): a user with a passkey or with a fresh code, which comes to the address of the user; an operator with
// the token. The proof counts in the session of the call alone.
import type { Context } from 'koa'
import { z } from 'zod'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { clientAddressOf } from '../../../infra/http/caller-address.ts'
import { httpException, Problem } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { documentRefusal } from '../../domain/openapi/refusals.ts'
import { userContext } from '../../domain/users/documents.ts'
import { enteredCode } from '../../domain/verifications/entered-code.ts'
import { type Principal, principalOf } from '../access.ts'
import { conflict, ok } from '../answers.ts'
import { operationWith } from '../operation.ts'
import type { StepUpWay } from '../step-up.ts'
import { SIGN_IN_FLOW_MS } from './browsers.ts'
import { SENT_BY } from './codes.ts'
import { newCookieToken } from './cookie.ts'
import { companyOrNull } from './entry.ts'
import type { SignInDeps } from './operations.ts'
import { ownPasskeys, type PasskeyDeps } from './passkeys/operations.ts'
import { assertion, requestOptions } from './passkeys/schemas.ts'
import { stepUpResult } from './schemas.ts'

const operation = operationWith<SignInDeps>()

const stepUpBody = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'The token of the operator whose session it is.' }),
    code: enteredCode().max(100).optional().meta({ description: 'The code that came to the address of the user.' }),
    passkey: assertion.optional().meta({ description: 'What the browser answered to `POST /step-up/passkey`.' }),
  })
  .refine(given => Object.values(given).filter(value => value !== undefined).length <= 1, {
    message: 'must be {token}, {code}, {passkey} or {}',
  })
  .meta({ id: 'StepUpRequest', description: 'A proof; or nothing, for a code to be sent.' })
type Proof = z.output<typeof stepUpBody>

const WRONG: Record<StepUpWay, string> = {
  token: 'This is not the token of the operator whose session it is.',
  code: 'The code is wrong, has expired or was used before. Ask for a new one.',
  passkey: 'The passkey was not accepted. Try again.',
}

const CODE_SENT_TO_CALLER = {
  live: 'A code was sent to your address by email. It is good in this browser only.',
  test: 'A code is in the sandbox inbox, because this deployment has no email provider.',
}

const notProved = (way: StepUpWay): Problem => httpException(403, WRONG[way])

export const stepUpOperations = [
  operation({
    id: 'stepUp',
    request: 'POST /step-up',
    role: 'invited',
    summary: 'Prove again who you are',
    description:
      'For the changes that refuse with `StepUpRequiredError`. With an empty body a code is sent to the user; then `code`, `passkey` or, for an operator, `token`. Good for ten minutes in this session; signing in counts too.',
    body: { schema: stepUpBody, example: { code: '12345678' } },
    answers: [ok(stepUpResult, 'Proved, or the next step.', { next: null })],
    refusals: [
      documentRefusal('The proof is wrong, has expired or was used before.', httpException(403)),
      conflict('The call has no session, or this deployment cannot send codes.'),
    ],
    handle: async ({ ctx, body }, deps) => {
      const { withAudit, sessions } = deps
      const caller = principalOf(ctx)
      if (caller.session === null) throw httpException(409, 'A call with a token needs no step-up.')
      const { id } = caller.session
      const way = await prove(deps, ctx, caller, body)
      if (way === null) return sendCode(deps, ctx, caller)
      await withAudit(ctx, () => ({
        action: 'session.step_up',
        target: id,
        company_id: companyOrNull(caller.company_id),
        before: null,
        after: { by: way },
        perform: async () => {
          if ((await sessions.stepUp(id)) === null) throw httpException(401, 'The session has ended. Sign in again.')
          return id
        },
      }))
      return { next: null }
    },
  }),
  operation({
    id: 'startStepUpWithPasskey',
    request: 'POST /step-up/passkey',
    role: 'invited',
    summary: 'Begin a step-up with a passkey',
    description: 'For `navigator.credentials.get`, within five minutes.',
    answers: [
      ok(requestOptions, 'What the browser is asked.', {
        challenge: 'MTg5MzQ1NjAwMDAwMC4',
        timeout: 300_000,
        rpId: 'otp.example.com',
        allowCredentials: [{ id: 'c2VjcmV0', type: 'public-key', transports: ['internal'] }],
        userVerification: 'required',
      }),
    ],
    refusals: [conflict('The caller has no passkey.')],
    handle: async ({ ctx }, deps) => {
      const caller = principalOf(ctx)
      const own = await ownPasskeys(deps, caller)
      if (own.length === 0 || caller.session === null) throw httpException(409, 'You have no passkey here.')
      return deps.passkeys.requestOptions({ purpose: 'step_up', browser: caller.session.id }, own)
    },
  }),
]

/** The ways of a caller: an operator's is the token. */
export const createStepUpWays =
  (deps: Pick<PasskeyDeps, 'entry' | 'passkeys'>) =>
  async (caller: Principal): Promise<StepUpWay[]> => {
    if (caller.user_id === null) return ['token']
    return (await ownPasskeys(deps, caller)).length > 0 ? ['passkey', 'code'] : ['code']
  }

/** How the person has proved it; null if the body holds no proof. Throws when the proof is wrong. */
async function prove(deps: SignInDeps, ctx: Context, caller: Principal, proof: Proof): Promise<StepUpWay | null> {
  const { codes, cookies, passkeys } = deps
  const { token, code, passkey } = proof
  if (token !== undefined) {
    if (caller.operator === null || operatorWith(deps, ctx, token) !== caller.operator) throw notProved('token')
    return 'token'
  }
  const isOwn = async (users: readonly { _id: string }[]): Promise<boolean> => {
    const own = (await deps.entry.usersOf(caller)).map(({ _id }) => _id)
    return users.some(({ _id }) => own.includes(_id))
  }
  if (passkey !== undefined) {
    const browser = caller.session?.id ?? ''
    const user = await passkeys.check(passkey, { purpose: 'step_up', browser })
    if (user === null || !(await isOwn([user]))) throw notProved('passkey')
    return 'passkey'
  }
  if (code === undefined) return null
  const flowToken = cookies.flow.tokenIn(ctx)
  const email = await emailOf(deps, caller)
  if (flowToken === null || email === null) throw notProved('code')
  const mode = await codes.mode()
  if (!(await isOwn(await codes.check(email, code, { mode, trace: traceOf(ctx), flowToken })))) throw notProved('code')
  ctx.append('Set-Cookie', cookies.flow.end())
  return 'code'
}

/** The name of the operator with this token. A wrong one counts as one in an Authorization header does; the session
 *  goes on, so it is not 401. */
function operatorWith({ identifyOperator }: SignInDeps, ctx: Context, token: string): string {
  try {
    return identifyOperator(ctx, { token })
  } catch (error) {
    throw error instanceof Problem && error.status === 401 ? notProved('token') : error
  }
}

async function emailOf({ store, keyring }: SignInDeps, { user_id }: Principal): Promise<string | null> {
  const user = user_id === null ? undefined : await getOne(store.docs('users'), user_id)
  return user ? unsealOrNull(keyring, user.sealed_email, userContext.email(user._id)) : null
}

async function sendCode(deps: SignInDeps, ctx: Context, caller: Principal) {
  const { codes, cookies, findCaller, runAfterAnswer } = deps
  const email = await emailOf(deps, caller)
  if (email === null) throw httpException(409, 'An operator has no address: send the token.')
  const mode = await codes.mode()
  const flowToken = cookies.flow.tokenIn(ctx) ?? newCookieToken()
  const request = { mode, clientAddress: clientAddressOf(findCaller(ctx)), trace: traceOf(ctx), flowToken }
  runAfterAnswer(ctx.res, () => codes.send(email, { ...request, deviceToken: cookies.device.tokenIn(ctx) }))
  ctx.append('Set-Cookie', cookies.flow.give(flowToken, SIGN_IN_FLOW_MS))
  return { next: 'code' as const, sent_by: SENT_BY[mode], detail: CODE_SENT_TO_CALLER[mode] }
}
