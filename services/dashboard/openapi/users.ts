// Users, signing in and sessions in the OpenAPI document.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { documentRefusal } from '../../domain/openapi/refusals.ts'
import { text } from '../../domain/tenancy/value-schemas.ts'
import { chooseCompanyBody } from '../sign-in/invitations.ts'
import { currentSession, type MeAnswer, me, type SessionAnswer, sessionPage, signInResult } from '../sign-in/schemas.ts'
import { userRole } from '../user-role.schemas.ts'
import { changeBody, stampBody } from '../users/routes.ts'
import { type UserAnswer, unstampedUsers, user, userPage } from '../users/schemas.ts'
import { adminOperation, conflict, noContent, ok, PAGE } from './admin-operation.ts'

const inviteRequest = z
  .strictObject({ email: z.string(), role: userRole, name: text(100).nullable().optional() })
  .meta({ id: 'InviteUserRequest', description: 'A new user.' })

const changeRequest = changeBody.meta({ id: 'ChangeUserRequest', description: 'Changes a user.' })

const chooseCompanyRequest = chooseCompanyBody.meta({
  id: 'ChooseCompanyRequest',
  description: 'The company to enter.',
})

const stampRequest = stampBody.meta({ id: 'StampUsersRequest', description: 'The users to stamp.' })

const signInRequest = z
  .strictObject({
    token: z.string().min(1).optional().meta({ description: "An operator's token." }),
    ticket: z.string().min(1).optional().meta({ description: 'Of the link that a start in development prints.' }),
    email: z.string().optional().meta({ description: 'The address of a user.' }),
    code: z.string().min(1).optional().meta({ description: 'The code that came to the address.' }),
  })
  .meta({ id: 'SignInRequest', description: '`token`; or `ticket`; or `email`, and then `email` with `code`.' })

const userExample: UserAnswer = {
  id: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0c',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'developer',
  invited_until: '2030-01-15T12:00:00.000Z',
  created_at: '2030-01-01T12:00:00.000Z',
  last_sign_in_at: null,
}

const meExample: MeAnswer = {
  id: userExample.id,
  name: 'Ada',
  email: 'ada@example.com',
  role: 'developer',
  company_id: userExample.company_id,
  memberships: [{ company_id: userExample.company_id, company_name: 'Acme', role: 'developer' }],
  invitations: [{ id: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0d', company_name: 'Globex', role: 'viewer' }],
  session_id: 'ses_01k2m8x4e9s7v3hqz5tnw6yb0c',
  csrf_token: 'pXv4tq8Jw1uYd6sLk3nHb7cFe5aGi2oPx',
}

const sessionExample: SessionAnswer = {
  id: 'ses_01k2m8x4e9s7v3hqz5tnw6yb0c',
  at: '2030-01-01T12:00:00.000Z',
  last_seen_at: '2030-01-01T12:30:00.000Z',
  expires_at: '2030-01-02T00:00:00.000Z',
  browser: 'Firefox on Linux',
  current: true,
}

const LAST_OWNER = conflict('A company keeps at least one owner.')

export const userOperations = [
  adminOperation({
    id: 'signIn',
    route: ['post', '/sign-in'],
    summary: 'Sign in',
    description:
      "With an operator's token or a ticket, which is good once, for an hour; or with an address and the code that came to it: first `email` alone, then `email` and `code` from the same browser, with the cookie that it got. The session is in a cookie.",
    open: true,
    request: { schema: signInRequest, example: { email: 'ada@example.com', code: '12345678' } },
    answers: [ok(signInResult, 'Signed in, or the next step.', meExample)],
    refusals: [
      documentRefusal(
        'The token, the ticket or the code is wrong, has expired or was used before; or another browser asked for the code.',
        httpException(401),
      ),
      documentRefusal("The Origin is another page's.", httpException(403)),
      conflict('This deployment cannot send codes for signing in.'),
    ],
  }),
  adminOperation({
    id: 'getCurrentSession',
    route: ['get', '/session'],
    summary: 'Look up the session of the browser',
    description: 'By the session cookie alone. Without a valid one `me` is null, where `GET /me` is 401.',
    open: true,
    answers: [ok(currentSession, 'The caller, or null.', { me: meExample })],
  }),
  adminOperation({
    id: 'signOut',
    route: ['post', '/sign-out'],
    summary: 'Sign out',
    description: 'Ends the session of this call.',
    answers: [noContent('Signed out.')],
  }),
  adminOperation({
    id: 'getMe',
    route: ['get', '/me'],
    summary: 'Look the caller up',
    description:
      'Who is calling, in which company and with which role, what else the person may choose or accept, and the CSRF token of the session.',
    answers: [ok(me, 'The caller.', meExample)],
  }),
  adminOperation({
    id: 'chooseCompany',
    route: ['post', '/me/company'],
    summary: 'Choose a company',
    description:
      'One of `memberships`. The session ends, and one in that company begins, with a new cookie and a new CSRF token. It ends when the former would have ended.',
    request: { schema: chooseCompanyRequest, example: { company_id: userExample.company_id } },
    answers: [ok(me, 'The caller, in the company.', meExample)],
    refusals: [documentRefusal('The caller is not a user of this company.', httpException(404))],
  }),
  adminOperation({
    id: 'acceptInvitation',
    route: ['post', '/invitations/{id}/accept'],
    summary: 'Accept an invitation',
    description:
      'One of `invitations`. The caller becomes a user of the company, and the session goes there as if it was chosen.',
    answers: [ok(me, 'The caller, in the company.', meExample)],
    refusals: [conflict('The company is closed.')],
  }),
  adminOperation({
    id: 'declineInvitation',
    route: ['post', '/invitations/{id}/decline'],
    summary: 'Decline an invitation',
    description: 'It is removed. A person without a membership or another invitation is signed out: then `me` is null.',
    answers: [ok(currentSession, 'The caller, or null.', { me: meExample })],
  }),
  adminOperation({
    id: 'listSessions',
    route: ['get', '/sessions'],
    summary: "List the caller's sessions",
    description: 'Newest first.',
    parameters: PAGE,
    answers: [ok(sessionPage, 'A page of sessions.', { items: [sessionExample], next_cursor: null })],
  }),
  adminOperation({
    id: 'endSessions',
    route: ['delete', '/sessions'],
    summary: "End all of the caller's sessions",
    description: 'The one of this call too.',
    answers: [noContent('They are ended.')],
  }),
  adminOperation({
    id: 'endSession',
    route: ['delete', '/sessions/{id}'],
    summary: "End one of the caller's sessions",
    description: 'It is refused from then on.',
    answers: [noContent('It is ended.')],
  }),
  adminOperation({
    id: 'listUsers',
    route: ['get', '/companies/{id}/users'],
    summary: "List a company's users",
    description: 'By id. Invitations are among them.',
    parameters: PAGE,
    answers: [ok(userPage, 'A page of users.', { items: [userExample], next_cursor: null })],
  }),
  adminOperation({
    id: 'inviteUser',
    route: ['post', '/companies/{id}/users'],
    summary: 'Invite a user',
    description:
      'The person signs in with a code that comes to this address, and accepts. Until then, at most 14 days, the invitation grants nothing. Inviting an address again renews its invitation. Nothing tells whether the address is a user of another company. The users of a company make 20 invitations a day at most, and 3 to one address.',
    request: { schema: inviteRequest, example: { email: 'ada@example.com', role: 'developer', name: 'Ada' } },
    answers: [ok(user, 'The invitation.', userExample, 201)],
    refusals: [conflict('The address is a user of this company already.')],
  }),
  adminOperation({
    id: 'changeUser',
    route: ['patch', '/users/{id}'],
    summary: "Change a user's role",
    description: 'It counts from the next call on.',
    request: { schema: changeRequest, example: { role: 'owner' } },
    answers: [ok(user, 'The user.', { ...userExample, role: 'owner', invited_until: null })],
    refusals: [LAST_OWNER],
  }),
  adminOperation({
    id: 'listUnstampedUsers',
    route: ['get', '/users/unstamped'],
    summary: 'List users without a stamp',
    description:
      'Users of a release that did not stamp them, and users whose stamp was made with a code secret that is gone. They cannot sign in. At most 100.',
    answers: [ok(unstampedUsers, 'The users.', { items: [userExample] })],
  }),
  adminOperation({
    id: 'stampUsers',
    route: ['post', '/users/stamp'],
    summary: 'Stamp users',
    description:
      'Lets these users sign in. Look at their addresses, companies and roles first: who can write to the store can add a user without a stamp.',
    request: { schema: stampRequest, example: { ids: [userExample.id] } },
    answers: [ok(unstampedUsers, 'Those that were without a stamp, and have one now.', { items: [userExample] })],
    refusals: [documentRefusal('One of them does not exist. Those named before it are stamped.', httpException(404))],
  }),
  adminOperation({
    id: 'deleteUser',
    route: ['delete', '/users/{id}'],
    summary: 'Delete a user',
    description: 'Or revoke an invitation. The sessions of the user in this company end.',
    answers: [noContent('The user is deleted.')],
    refusals: [LAST_OWNER],
  }),
]
