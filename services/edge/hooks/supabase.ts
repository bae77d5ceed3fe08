// The hooks "Send SMS" and "Send Email" of Supabase Auth. In: their body. Out: the messages to send. A change of an email address has two
// codes: `token` is for the present address and `token_new` for the new one; where only the new one is asked, it is `token`.
//
// Supabase Auth calls while its own caller waits, for five seconds in all, and drops the code when it has no answer by then. It calls again
// when an answer is lost, with the same `metadata.uuid` and another `webhook-id`, and at once, twice, after a 503 with Retry-After. A 200
// with `error` shows its words to the user; any other answer shows words of Supabase's own.
import { z } from 'zod'
import { isIpAddress } from '../../../infra/ip-address.ts'
import { inWords } from '../../domain/tenancy/problem-words.ts'
import { messageRequest } from '../schemas.requests.ts'
import type { LoginCall, LoginMessage, Receiver } from './receiver.ts'

const { code } = messageRequest.shape
const address = z.string().nullish()

/** Supabase keeps numbers without a plus. */
const phone = z
  .string()
  .nullish()
  .transform(number => (number && /^\d/.test(number) ? `+${number}` : number))

const members = {
  metadata: z.object({ uuid: z.string().nullish(), ip_address: z.string().nullish() }).nullish(),
  user: z.object({ phone, email: address, new_email: address }),
}
type Metadata = z.output<typeof members.metadata>

const clientOf = (metadata: Metadata): Pick<LoginMessage, 'client_ip'> => {
  const ip = metadata?.ip_address ?? ''
  return isIpAddress(ip) ? { client_ip: ip } : {}
}
const idOf = (metadata: Metadata): Pick<LoginCall, 'id'> => (metadata?.uuid ? { id: metadata.uuid } : {})

const sendSms = z
  .object({ ...members, sms: z.object({ otp: code, phone }) })
  // A number that is to be changed stands beside the code.
  .transform(
    ({ metadata, user, sms }): LoginCall => ({
      ...idOf(metadata),
      messages: [{ recipient: sms.phone || user.phone || '', code: sms.otp, ...clientOf(metadata) }],
    }),
  )

const sendEmail = z
  .object({
    ...members,
    email_data: z.object({
      token: code,
      token_new: code.or(z.literal('')).nullish(),
      email_action_type: z.string().nullish(),
    }),
  })
  .transform(({ metadata, user, email_data: { token, token_new, email_action_type } }): LoginCall => {
    const [present, client] = [user.email ?? '', clientOf(metadata)]
    const next = user.new_email || present
    const isChange = email_action_type === 'email_change'
    const first = { recipient: isChange && !token_new ? next : present, code: token, ...client }
    const second = { recipient: next, code: token_new ?? '', ...client }
    return { ...idOf(metadata), messages: isChange && token_new ? [first, second] : [first] }
  })

/** Says that something was changed, such as `password_changed_notification`. */
const notice = z
  .object({ email_data: z.object({ email_action_type: z.string().regex(/^[a-z_]{1,60}_notification$/) }) })
  .transform(({ email_data }): LoginCall => ({ messages: [], notice: email_data.email_action_type }))

const body = z.unknown().transform((body, context): LoginCall => {
  const told = notice.safeParse(body)
  if (told.success) return told.data
  const isSms = typeof body === 'object' && body !== null && 'sms' in body
  const parsed = (isSms ? sendSms : sendEmail).safeParse(body, { error: inWords })
  if (parsed.success) return parsed.data
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message })
  return z.NEVER
})

export const supabase: Receiver = {
  authentication: { signedBy: 'supabase' },
  body,
  // Less than its five seconds, so that the answer gets there.
  waitsMs: 4_000,
  refuse({ status, message }, words) {
    // Not told to a user: Supabase says of a 401 that the hook asks for authorization.
    if (status === 401) return { status, body: { error: { http_code: status, message } } }
    return { status: 200, body: { error: { http_code: status, message: words } } }
  },
}
