// A message of Ory Kratos' courier. In: the body of its HTTP channel, whose template passes on `recipient`, `template_type` and
// `template_data`. Out: the message to send. A template without a code, such as one with a link, cannot be delivered.
import { z } from 'zod'
import { messageRequest } from '../schemas.requests.ts'
import type { HookMessage } from './hook-message.ts'

const { recipient, code } = messageRequest.shape

/** Each template names its code after itself. */
const CODES = ['login_code', 'registration_code', 'verification_code', 'recovery_code'] as const

export const kratosBody = z
  .object({
    recipient,
    template_type: z.string().optional(),
    template_data: z.object(Object.fromEntries(CODES.map(name => [name, code.optional()]))),
  })
  .transform(({ recipient, template_data }, context): HookMessage[] => {
    const given = CODES.map(name => template_data[name]).find(one => one !== undefined)
    if (given !== undefined) return [{ recipient, code: given }]
    context.addIssue({ code: 'custom', path: ['template_data'], message: `must have one of ${CODES.join(', ')}` })
    return z.NEVER
  })
