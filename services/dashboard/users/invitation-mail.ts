// Tells a person by email that they are invited. In: an invitation. Out: whether a provider took
// the mail. An invitation counts without it: its author then passes the address of the dashboard on.
//
// Strangers get this mail from the deployment's own address, so it holds nothing that its author could write but the
// name of the company, and that only where no mail program makes a link of it.
import type { Logger } from '../../../infra/log/log.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import type { SendConsoleMail } from '../../domain/tenancy/console-mail.ts'
import type { Company } from '../../domain/tenancy/documents.ts'
import { hasLink } from '../../domain/texts/own-texts.ts'
import type { UserDoc } from '../../domain/users/documents.ts'
import { SIGN_IN_PATH } from '../screens.ts'

export interface InvitationMailDeps {
  sendMail: SendConsoleMail
  /** The address of the dashboard, if it is known. */
  publicUrl: string | null
  log: Pick<Logger, 'info' | 'warn'>
}

export interface InvitationMail {
  user_id: UserDoc['_id']
  /** The address of the person who is invited. */
  recipient: string
  company: Pick<Company, 'name'>
}

export async function sendInvitationMail(
  { sendMail, publicUrl, log }: InvitationMailDeps,
  { user_id, recipient, company }: InvitationMail,
  trace: Trace,
): Promise<boolean> {
  const known = { ...requestOf({ trace }), user_id }
  try {
    const mail = { recipient, subject: 'You are invited to Countersign', text: textOf(company, publicUrl) }
    const kind = await sendMail(mail, trace)
    if (kind === 'sent') log.info(known, 'invitation.mail_sent')
    else log.warn({ ...known, why: kind }, 'invitation.mail_not_sent')
    return kind === 'sent'
  } catch (error) {
    log.warn({ ...known, err: error }, 'invitation.mail_not_sent')
    return false
  }
}

const textOf = ({ name }: Pick<Company, 'name'>, publicUrl: string | null): string =>
  [
    `You are invited to ${hasLink(name) ? 'a company' : `the company "${name}"`} on the dashboard of Countersign.`,
    publicUrl === null
      ? 'Sign in to the dashboard with this address, and accept or decline.'
      : `Sign in with this address, and accept or decline: ${publicUrl}${SIGN_IN_PATH}`,
    'The invitation ends after 14 days. If you do not know the company, there is nothing to do.',
  ].join('\n\n')
