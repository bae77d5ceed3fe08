// A message of Ory Kratos' courier. In: the body of its HTTP channel, whose template passes on `recipient`, `template_type` and
// `template_data`. Out: the message to send. A template without a code, such as one with a link, cannot be delivered.
//
// The courier sends one message after the other. Releases up to 25.4 wait within one message for as long as a Retry-After says, and try 429
// and 5xx again on the spot, so one person's limit would stop everybody's mail. It takes any other answer for a failed try and goes on with
// the next message: a refusal is a 4xx that is not 429, and nothing has a Retry-After. What it calls again for brings nothing that stays
// the same but recipient and code.
import { z } from 'zod'
import { Problem } from '../../../infra/http/problem.ts'
import { messageRequest } from '../schemas.requests.ts'
import type { LoginCall, Receiver } from './receiver.ts'

const { recipient, code, expires_in_seconds } = messageRequest.shape

/** Each template names its code after itself. */
const CODES = ['login_code', 'registration_code', 'verification_code', 'recovery_code'] as const

const body = z
  .object({
    recipient,
    template_type: z.string().optional(),
    template_data: z.object({
      ...Object.fromEntries(CODES.map(name => [name, code.optional()])),
      // Releases before 25.4 do not tell it, and 0 is what one tells that does not know.
      expires_in_minutes: z.number().optional().catch(undefined),
    }),
  })
  .transform(({ recipient, template_data }, context): LoginCall => {
    const { expires_in_minutes, ...codes } = template_data as { expires_in_minutes?: number } & Record<string, string>
    const given = CODES.map(name => codes[name]).find(one => one !== undefined)
    if (given === undefined) {
      context.addIssue({ code: 'custom', path: ['template_data'], message: `must have one of ${CODES.join(', ')}` })
      return z.NEVER
    }
    const life = expires_in_seconds.safeParse((expires_in_minutes ?? 0) * 60)
    return { messages: [{ recipient, code: given, ...(life.data && { expires_in_seconds: life.data }) }] }
  })

export const kratos: Receiver = {
  authentication: 'server_key',
  body,
  refuse({ type, status, title, message, extras: { members } }, words) {
    // A body or a key that is wrong: the operator reads why in the courier's log, and no user does.
    if (type === 'ValidationError' || type === 'HTTPException')
      return new Problem(type, status, title, { detail: message, ...(members && { members }) })
    return new Problem(type, status === 429 ? 422 : status, title, { detail: words })
  },
}
