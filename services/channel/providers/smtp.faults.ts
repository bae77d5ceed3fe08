// Whose fault it is that a mail was not taken. In: how handing it over failed. Out: the fault in a channel's words. 4xx is the
// provider's, to be tried again; 5xx about the mailbox is the recipient's; any other 5xx (login, sender, policy) the provider's.
// A mail that was on its way when the connection ended may have been taken.
import { ForbiddenTarget, NotSent } from '../../../infra/outbound/outbound.ts'
import { DestinationFault, ProviderFault, RecipientFault, UnknownOutcome } from '../provider.ts'
import { SmtpFailure } from './smtp.session.ts'

export function mailFault(error: unknown): unknown {
  if (error instanceof ForbiddenTarget) return new ProviderFault('its address may not be called', { cause: error })
  if (error instanceof NotSent) return new ProviderFault('it cannot be reached', { cause: error })
  if (!(error instanceof SmtpFailure)) return error
  const { reply, bodyStarted, command } = error
  const summary = command === null ? error.message : `${error.message} (${command.replace(/[^A-Z0-9 -]/g, '')})`
  if (reply === null || reply.code < 400)
    return bodyStarted ? new UnknownOutcome('the connection ended without an answer') : new ProviderFault(summary)
  if (isRecipientFault(command, reply)) return new RecipientFault(summary)
  return command === 'RCPT TO' ? new DestinationFault(summary) : new ProviderFault(summary)
}

/** RFC 3463: X.1 is about addresses (7 and 8 of it the sender's), X.2 about the mailbox. The rest, X.7 (policy) above all, is about us. */
const ABOUT_RECIPIENT = /^5\.(?:1\.(?!7$|8$)|2\.)/

/** What servers without enhanced codes say of a mailbox. 50x and 53x are about how we speak, or who we are. */
const NO_SUCH_MAILBOX: ReadonlySet<number> = new Set([521, 550, 551, 552, 553, 554, 556])

function isRecipientFault(command: string | null, { code, enhanced }: NonNullable<SmtpFailure['reply']>): boolean {
  if (code < 500) return false
  if (command !== 'RCPT TO' && command !== 'DATA') return false
  if (enhanced !== null) return ABOUT_RECIPIENT.test(enhanced)
  return command === 'RCPT TO' && NO_SUCH_MAILBOX.has(code)
}
