// Decides whose fault it is that a mail was not accepted. In: the error of an SMTP session. Out: a fault of provider.ts. A 4xx reply is the
// provider's fault; a 5xx reply about the mailbox is the recipient's; any other 5xx reply (login, sender, policy) is the provider's.
// When the connection ends while the mail is being sent, the outcome is unknown.
import { ForbiddenTarget, NotSent } from '../../../infra/outbound/outbound.ts'
import { DestinationFault, ProviderFault, RecipientFault, UnknownOutcome, type VendorAnswer } from '../provider.ts'
import { SmtpFailure } from './smtp.session.ts'

export function mailFault(error: unknown): unknown {
  if (error instanceof ForbiddenTarget) return new ProviderFault('its address may not be called', { cause: error })
  if (error instanceof NotSent) return new ProviderFault('it cannot be reached', { cause: error })
  if (!(error instanceof SmtpFailure)) return error
  const { reply, bodyStarted, command } = error
  const summary = command === null ? error.message : `${error.message} (${command.replace(/[^A-Z0-9 -]/g, '')})`
  if (reply === null || reply.code < 400)
    return bodyStarted ? new UnknownOutcome('the connection ended without an answer') : new ProviderFault(summary)
  const answer = answerOf(reply)
  if (isRecipientFault(command, reply)) return new RecipientFault(summary, { answer })
  return command === 'RCPT TO' ? new DestinationFault(summary, { answer }) : new ProviderFault(summary, { answer })
}

type SmtpReply = NonNullable<SmtpFailure['reply']>

const answerOf = ({ code, enhanced, text }: SmtpReply): VendorAnswer => ({
  httpStatus: null,
  vendorCode: enhanced === null ? String(code) : `${code} ${enhanced}`,
  vendorText: text,
})

/** RFC 3463: X.1 is about addresses (X.1.7 and X.1.8 about the sender's), X.2 about the mailbox. Other codes, like X.7 (policy), concern us. */
const ABOUT_RECIPIENT = /^5\.(?:1\.(?!7$|8$)|2\.)/

/** Replies about the mailbox from servers without enhanced codes. 50x is about our commands, 53x about our login. 521 and 554 also come from a
 *  server that takes no mail from us. */
const NO_SUCH_MAILBOX: ReadonlySet<number> = new Set([550, 551, 552, 553, 556])

function isRecipientFault(command: string | null, { code, enhanced }: SmtpReply): boolean {
  if (code < 500) return false
  if (command !== 'RCPT TO' && command !== 'DATA') return false
  if (enhanced !== null) return ABOUT_RECIPIENT.test(enhanced)
  return command === 'RCPT TO' && NO_SUCH_MAILBOX.has(code)
}
