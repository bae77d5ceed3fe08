// Email by SMTP. In: a message. Out: the app's mail server accepted it. SMTP has no receipts.
// The server's address is checked before each connection, and TLS checks the certificate for its name. If the config does not ask for TLS
// from the first byte, STARTTLS is used where the server offers it. A server on the public internet must: without TLS nothing is sent to
// it. The address that is connected to decides whether it is, because a name may resolve to another one tomorrow.
import { isIP } from 'node:net'
import { isPrivateNetwork } from '../../../infra/outbound/address-check.ts'
import { ForbiddenTarget, NotSent } from '../../../infra/outbound/outbound.ts'
import type { ProviderConfigs } from '../../domain/tenancy/provider-types/list.ts'
import {
  DestinationFault,
  type Provider,
  type ProviderDeps,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
  type VendorAnswer,
} from '../provider.ts'
import { createCompose } from './smtp.mail.ts'
import { createMailPool } from './smtp.pool.ts'
import { openSession, SmtpFailure } from './smtp.session.ts'

/** Tests have a certificate authority of their own, and take loopback addresses for public ones. */
export interface SmtpOptions {
  ca?: string
  isPrivateAddress?(address: string): boolean
}

export function createSmtpProvider(
  { config }: { config: ProviderConfigs['smtp'] },
  { outbound, clock }: Pick<ProviderDeps, 'outbound' | 'clock'>,
  { ca, isPrivateAddress = isPrivateNetwork }: SmtpOptions = {},
): Provider {
  const { host, port, secure, user, pass } = config
  const compose = createCompose(config)
  const auth = user === null || pass === null ? null : { user, pass }
  const servername = isIP(host) ? null : host

  const pool = createMailPool({
    clock,
    async open(signal) {
      const address = await outbound.resolve(host)
      const tlsRequired = !isPrivateAddress(address)
      return openSession({ address, servername, port, secure, tlsRequired, auth, ca }, signal)
    },
  })

  return {
    async send(message, signal) {
      const mail = await compose(message, clock.now())
      try {
        await pool.send(mail, signal)
      } catch (error) {
        throw mailFault(error)
      }
      return { reference: mail.id }
    },

    close: () => pool.close(),
  }
}

/** Whose fault it is that a mail was not accepted. A 4xx reply is the provider's fault; a 5xx reply about the mailbox
 *  is the recipient's; any other 5xx reply (login, sender, policy) is the provider's. When the connection ends while
 *  the mail is being sent, the outcome is unknown. */
function mailFault(error: unknown): unknown {
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

/** RFC 3463: X.1 is about addresses (X.1.7 and X.1.8 about the sender's), X.2 about the mailbox. Other codes, like X.7
 *  (policy), concern us. */
const ABOUT_RECIPIENT = /^5\.(?:1\.(?!7$|8$)|2\.)/

/** Replies about the mailbox from servers without enhanced codes. 50x is about our commands, 53x about our login. 521
 *  and 554 also come from a server that takes no mail from us. */
const NO_SUCH_MAILBOX: ReadonlySet<number> = new Set([550, 551, 552, 553, 556])

function isRecipientFault(command: string | null, { code, enhanced }: SmtpReply): boolean {
  if (code < 500) return false
  if (command !== 'RCPT TO' && command !== 'DATA') return false
  if (enhanced !== null) return ABOUT_RECIPIENT.test(enhanced)
  return command === 'RCPT TO' && NO_SUCH_MAILBOX.has(code)
}
