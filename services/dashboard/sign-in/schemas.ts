// The caller and their sessions as the admin API answers them.
import { z } from 'zod'
import { timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'
import { userRole } from '../user-role.schemas.ts'

const callerRole = z.enum(['viewer', 'developer', 'owner', 'operator']).meta({
  id: 'CallerRole',
  description: 'The role of a user, or `operator`.',
})

const membership = z
  .object({
    company_id: z.string().meta({ description: 'Identifies the company.' }),
    company_name: z.string().meta({ description: 'The name of the company.' }),
    role: userRole,
  })
  .meta({ id: 'Membership', description: 'A company that the caller is a user of.' })

const invitation = z
  .object({
    id: z.string().meta({ description: 'Identifies the invitation.' }),
    company_name: z.string().meta({ description: 'The name of the company that invites.' }),
    role: userRole,
  })
  .meta({ id: 'Invitation', description: 'It grants nothing until it is accepted.' })

export const me = z
  .object({
    id: z.string().nullable().meta({ description: 'The user; null for an operator.' }),
    name: z.string().nullable().meta({ description: 'The name of the user or operator.' }),
    email: z.string().nullable().meta({ description: 'The address of the user; null for an operator.' }),
    role: callerRole.nullable().meta({ description: 'Null for a person who is in no company yet.' }),
    company_id: z.string().nullable().meta({
      description: 'The company that this session is in; null for an operator, who sees all, and with `role` null.',
    }),
    memberships: z.array(membership).meta({ description: 'The companies that the person may choose.' }),
    invitations: z.array(invitation).meta({ description: 'What the person may accept or decline.' }),
    session_id: z.string().nullable().meta({ description: 'The session; null for a call with a token.' }),
    csrf_token: z.string().nullable().meta({ description: 'For the header X-CSRF-Token of every change.' }),
  })
  .meta({ id: 'Me', description: 'Who is calling.' })

export const currentSession = z
  .object({ me: me.nullable().meta({ description: 'Null without a session.' }) })
  .meta({ id: 'CurrentSession', description: 'Who is signed in in this browser.' })

const sentBy = z.enum(['email', 'sandbox']).meta({
  id: 'SignInCodeChannel',
  description: '`sandbox`: this deployment has no email provider, so the code is in the sandbox inbox.',
})

export const browserSession = currentSession
  .extend({ passkeys: z.boolean().meta({ description: 'Whether people can sign in with passkeys here.' }) })
  .meta({ id: 'BrowserSession', description: 'Who is signed in in this browser, and how one can sign in.' })

const nextStep = z.enum(['code']).meta({ id: 'SignInStep', description: 'What is needed next.' })

export const codeSent = z
  .object({
    next: nextStep,
    sent_by: sentBy,
    detail: z.string().meta({ description: 'For people.' }),
  })
  .meta({ id: 'SignInCodeSent', description: "The same answer for every address, whether it is a user's or not." })

const proved = z
  .object({ next: z.null().meta({ description: 'Nothing is needed any more.' }) })
  .meta({ id: 'StepUpProved', description: 'The session has proved whose it is.' })

export const stepUpResult = z
  .union([proved, codeSent])
  .meta({ id: 'StepUpResult', description: 'Proved; or the next step.' })

/** The members of both: a caller tells them apart by `next`. */
export const signInResult = z.union([me, codeSent]).meta({
  id: 'SignInResult',
  description: 'The caller, signed in; or, for an address without a code, the next step.',
})

export const session = z
  .object({
    id: z.string().meta({ description: 'Identifies the session.' }),
    at: timeSchema('When it began.'),
    last_seen_at: timeSchema('When it was last used.'),
    expires_at: timeSchema('When it ends unless it is used again: after two hours without use, at most twelve in all.'),
    browser: z.string().meta({ description: 'Such as "Firefox on Linux".' }),
    current: z.boolean().meta({ description: 'Whether it is the session of this call.' }),
  })
  .meta({ id: 'Session', description: 'A session of the caller.' })

export const sessionPage = pageOf('SessionPage', session)

export type MeAnswer = z.output<typeof me>
export type SessionAnswer = z.output<typeof session>

export const meExample: MeAnswer = {
  id: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: 'Ada',
  email: 'ada@example.com',
  role: 'developer',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  memberships: [{ company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c', company_name: 'Acme', role: 'developer' }],
  invitations: [{ id: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0d', company_name: 'Globex', role: 'viewer' }],
  session_id: 'ses_01k2m8x4e9s7v3hqz5tnw6yb0c',
  csrf_token: 'pXv4tq8Jw1uYd6sLk3nHb7cFe5aGi2oPx',
}
