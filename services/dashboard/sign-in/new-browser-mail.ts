// Tells a person by email that they have signed in in a browser in which they had not before, so that they notice when
// it was another person. It is sent after the answer and never hinders the sign-in: a mail that cannot be sent is
// logged. Without an email provider there is none.
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { Logger } from '../../../infra/log/log.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import type { SendConsoleMail } from '../../domain/tenancy/console-mail.ts'
import { type UserDoc, userContext } from '../../domain/users/documents.ts'
import type { SignInCodes } from './codes.ts'

export interface NewBrowserMail {
  /** `browser`: in a few words. */
  send(user: UserDoc, browser: string, trace: Trace): Promise<void>
}

export interface NewBrowserMailDeps {
  sendMail: SendConsoleMail
  keyring: Pick<Keyring, 'unseal'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'info' | 'warn'>
  codes: Pick<SignInCodes, 'mode'>
}

export const createNewBrowserMail = (deps: NewBrowserMailDeps): NewBrowserMail => ({
  async send(user, browser, trace) {
    const { sendMail, keyring, clock, log, codes } = deps
    const known = { ...requestOf({ trace }), user_id: user._id }
    try {
      if ((await codes.mode()) === 'test') return
      const recipient = keyring.unseal(user.sealed_email, userContext.email(user._id))
      const mail = { recipient, subject: 'A new browser signed in to Countersign', text: textOf(browser, clock.now()) }
      const kind = await sendMail(mail, trace)
      if (kind === 'sent') log.info(known, 'sign_in.mail_sent')
      else log.warn({ ...known, why: kind }, 'sign_in.mail_not_sent')
    } catch (error) {
      log.warn({ ...known, err: error }, 'sign_in.mail_not_sent')
    }
  },
})

const textOf = (browser: string, at: number): string =>
  [
    `You signed in to the Countersign dashboard in a new browser: ${browser}, at ${isoTime(at)}.`,
    '',
    'If it was you, there is nothing to do.',
    'If it was not you, somebody can read your mail or has your passkey. Sign in, end all sessions on the screen Team, remove passkeys that you do not know, and tell the owner of your company.',
  ].join('\n')
