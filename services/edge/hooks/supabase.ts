// The hooks "Send SMS" and "Send Email" of Supabase Auth. In: their body. Out: the messages to send. A change of an email address has two
// codes: `token` is for the present address and `token_new` for the new one; where only the new one is asked, it is `token`.
import { z } from 'zod'
import { isIpAddress } from '../../../infra/ip-address.ts'
import { inWords } from '../../domain/tenancy/problem-words.ts'
import { messageRequest } from '../schemas.requests.ts'
import type { HookMessage } from './hook-message.ts'

const { code } = messageRequest.shape
const address = z.string().nullish()

/** Supabase keeps numbers without a plus. */
const phone = z
  .string()
  .nullish()
  .transform(number => (number && /^\d/.test(number) ? `+${number}` : number))

const members = {
  metadata: z.object({ ip_address: z.string().nullish() }).nullish(),
  user: z.object({ phone, email: address, new_email: address }),
}
const client = (metadata: z.output<typeof members.metadata>): Pick<HookMessage, 'client_ip'> => {
  const ip = metadata?.ip_address ?? ''
  return isIpAddress(ip) ? { client_ip: ip } : {}
}

const sendSms = z
  .object({ ...members, sms: z.object({ otp: code, phone }) })
  // A number that is to be changed stands beside the code.
  .transform(({ metadata, user, sms }): HookMessage[] => [
    { recipient: sms.phone || user.phone || '', code: sms.otp, ...client(metadata) },
  ])

const sendEmail = z
  .object({
    ...members,
    email_data: z.object({
      token: code,
      token_new: code.or(z.literal('')).nullish(),
      email_action_type: z.string().nullish(),
    }),
  })
  .transform(({ metadata, user, email_data: { token, token_new, email_action_type } }): HookMessage[] => {
    const present = user.email ?? ''
    const next = user.new_email || present
    if (email_action_type !== 'email_change') return [{ recipient: present, code: token, ...client(metadata) }]
    if (!token_new) return [{ recipient: next, code: token, ...client(metadata) }]
    return [
      { recipient: present, code: token, ...client(metadata) },
      { recipient: next, code: token_new, ...client(metadata) },
    ]
  })

export const supabaseBody = z.unknown().transform((body, context): HookMessage[] => {
  const isSms = typeof body === 'object' && body !== null && 'sms' in body
  const parsed = (isSms ? sendSms : sendEmail).safeParse(body, { error: inWords })
  if (parsed.success) return parsed.data
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message })
  return z.NEVER
})
